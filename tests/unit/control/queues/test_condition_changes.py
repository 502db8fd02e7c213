"""Which conditions of a queue are news, where no status can show them."""

from collections.abc import Mapping
from typing import Any

import pytest

from cardquota.control.queues.condition_changes import condition_changes

GOOD = {"QuotaValid": "True", "OverQuota": "False", "Oversold": "False", "Borrowed": "False"}
BAD = {"QuotaValid": "False", "OverQuota": "True", "Oversold": "True", "Borrowed": "True"}


def status(reason: str = "x", message: str = "why", **changed: str) -> Mapping[str, Any]:
    rows = [
        {"type": kind, "status": holds, "reason": reason, "message": message}
        for kind, holds in {**GOOD, **changed}.items()
    ]
    return {"conditions": rows}


def told(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, bool, str]]:
    return [(one.condition, one.well, one.message) for one in condition_changes(before, after)]


def test_of_a_new_queue_only_what_is_wrong_is_news() -> None:
    assert told({}, status()) == []
    assert told({}, status(OverQuota="True")) == [("OverQuota", False, "why")]


def test_what_begins_and_what_is_over_is_news() -> None:
    begun = [(kind, False, "why") for kind in ("QuotaValid", "OverQuota", "Oversold")]
    assert told(status(), status(**BAD)) == begun
    assert told(status(**BAD), status()) == [
        ("QuotaValid", True, "quota and limits can be read again"),
        ("OverQuota", True, "the queue holds no more than it is allowed to"),
        ("Oversold", True, "the cluster has at least as many cards as all quotas add up to"),
    ]


def test_numbers_are_no_news_and_another_reason_is() -> None:
    before = status(OverQuota="True")
    assert told(before, status(message="other numbers", OverQuota="True")) == []
    assert told(before, status(reason="y", OverQuota="True")) == [("OverQuota", False, "why")]
    assert told(status(), status(reason="y")) == []


@pytest.mark.parametrize("stored", [None, "x", ["x", None], [{"type": ["x"]}], {}])
def test_what_somebody_else_has_stored_is_nothing(stored: object) -> None:
    assert told({"conditions": stored}, status()) == []
    assert told(status(OverQuota="True"), {"conditions": stored}) == []
