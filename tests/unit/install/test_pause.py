"""The pause as a change of objects (U1, U4): what it adds, and that nothing of it is left."""

from copy import deepcopy
from typing import Any

import pytest

from cardquota.install import documents
from cardquota.install.pause import (
    GUARD,
    fault,
    guarded,
    is_paused_with_others,
    opened_to,
    pause_said,
    paused,
    resumed,
)
from cardquota.settings import GateSetter, Settings, Webhook

Object = dict[str, Any]
RENDERED = [
    *documents(Settings(scheduler="volcano")),
    *documents(Settings(webhook=Webhook(gate=GateSetter.POLICY))),
]
SAID = "2026-11-28T03:06:28Z by eve"
(POLICY,) = (
    one
    for one in documents(Settings())
    if (one["kind"], one["metadata"]["name"]) == ("ValidatingAdmissionPolicy", GUARD)
)


def name_of(document: Object) -> str:
    return f"{document['kind']} {document['metadata']['name']}"


def conditions(document: Object) -> list[list[Object]]:
    """Of each webhook, or of the policy."""
    found = document.get("webhooks") or [document["spec"]]
    return [one.get("matchConditions", []) for one in found]


@pytest.mark.parametrize("document", RENDERED, ids=map(name_of, RENDERED))
def test_u1_u4_a_pause_is_added_and_taken_away(document: Object) -> None:
    before = deepcopy(document)
    found = paused(document, SAID)
    assert document == before
    for old, new in zip(conditions(document), conditions(found), strict=True):
        assert new[:-1] == old
        assert new[-1]["expression"] == "false"
    assert (pause_said(document), pause_said(found)) == ("", SAID)
    assert paused(found, "later") == found
    assert resumed(found) == document
    assert resumed(document) == document


def test_u1_it_is_about_what_refuses_or_gates() -> None:
    concerned = {name_of(one) for one in RENDERED if is_paused_with_others(one)}
    assert concerned == {
        "MutatingWebhookConfiguration cardquota",
        "MutatingWebhookConfiguration cardquota-scales",
        "ValidatingWebhookConfiguration cardquota",
        "ValidatingWebhookConfiguration cardquota-volcano-jobs",
        "ValidatingAdmissionPolicy cardquota-gate-required",
        "ValidatingAdmissionPolicy cardquota-resource-claims",
        "MutatingAdmissionPolicy cardquota-set-gate",
    }


def test_u1_a_pause_in_part_is_one() -> None:
    """As after an upgrade: a webhook is new, and not paused."""
    (document,) = (one for one in RENDERED[:40] if name_of(one).endswith("ion cardquota-scales"))
    part = paused(document, SAID)
    del part["webhooks"][0]["matchConditions"][-1]
    assert pause_said(part) == SAID
    assert paused(part, "later") == paused(document, SAID)


def test_u1_what_is_reported_of_a_paused_object() -> None:
    (document,) = (one for one in RENDERED[:40] if name_of(one).endswith("ion cardquota-scales"))
    found = paused(document, SAID)
    assert fault(document, document) == ""
    assert fault(document, found).startswith(
        f"MutatingWebhookConfiguration <cardquota-scales> is paused since {SAID}"
    )
    found["webhooks"][0]["failurePolicy"] = "Fail"
    assert "instead of" in fault(document, found)
    del found["metadata"]["annotations"]
    found["webhooks"][0]["failurePolicy"] = "Ignore"
    assert "since nobody knows when" in fault(document, found)


@pytest.mark.parametrize("user", ["eve", 'e"v\\e', "system:serviceaccount:a:b", "é\n"])
def test_u3_one_user_more_may_open_gates_and_then_none(user: str) -> None:
    found = opened_to(POLICY, user)
    assert found != POLICY
    assert opened_to(found, "another") == opened_to(POLICY, "another")
    assert guarded(found) == resumed(found) == POLICY
    assert guarded(POLICY) == POLICY


def test_u3_who_else_may_open_gates_is_told_until_that_is_over() -> None:
    """A command that was killed leaves it so, and no pause need be there any more."""
    found = opened_to(POLICY, "eve")
    assert "has another variables[gateDropped].expression" in fault(POLICY, found)
    assert fault(POLICY, resumed(found)) == ""
