"""The stored condition of a group: ours, if it is as we write it."""

import json
from typing import Any

import pytest

from builders import a_group
from cardquota.quota import BODY
from cardquota.quota.ledger.groups import (
    FOREIGN,
    NO_CONDITION,
    NO_QUOTA_CONDITION,
    QUOTA_CONDITION,
)
from cardquota.quota.ledger.groups.group_facts import group_facts
from cardquota.quota.objects import PodGroup

OURS = {"type": "Unschedulable", "status": "True", "reason": "QueueNotOpen", "message": "closed"}


def decoded(*conditions: dict[str, Any], **status: Any) -> PodGroup:
    group = a_group().put({"conditions": list(conditions), **status}, "status")
    return PodGroup.decode(json.dumps(group.body, separators=(",", ":")).encode())


def test_ours_is_found_among_others() -> None:
    when = "2026-05-01T12:00:00Z"
    other = {"type": "Ready", "status": "True"}
    found = group_facts(decoded(other, {**OURS, "lastTransitionTime": when})).condition
    assert (found.type, found.reason, found.since) == ("Unschedulable", "QueueNotOpen", when)


def test_without_one_of_ours_there_is_none() -> None:
    assert group_facts(decoded({"type": "Ready"})).condition == NO_CONDITION
    assert a_group().facts().condition == NO_CONDITION


@pytest.mark.parametrize(
    "conditions",
    [
        ({**OURS, "status": "False"},),
        ({**OURS, "status": None},),
        (OURS, {**OURS, "type": "Scheduled"}),
        (OURS, OURS),
    ],
)
def test_what_we_never_write_is_somebody_elses(conditions: tuple[dict[str, Any], ...]) -> None:
    assert group_facts(decoded(*conditions)).condition.type == FOREIGN


def test_nothing_that_is_long_is_kept() -> None:
    """P8: anybody may write a status."""
    long = {**OURS, "reason": "r" * 4_000, "lastTransitionTime": "2" * 41}
    found = group_facts(decoded(long)).condition
    assert found.since == ""
    assert len(found.reason) < 100
    assert group_facts(decoded(columns={"cards": "c" * 2_000})).cards == ""


def test_ours_is_found_on_a_group_that_is_large_for_another_reason() -> None:
    """Else it would be written anew whenever the group is looked at."""
    group = a_group().annotated("example.com/long", "," * (BODY.most))
    text = json.dumps(group.put([OURS], "status", "conditions").body).encode()
    assert group_facts(PodGroup.decode(text)).condition.reason == "QueueNotOpen"
    without = json.dumps(group.put(None, "status", "conditions").body).encode()
    assert group_facts(PodGroup.decode(without)).condition == NO_CONDITION


def test_of_very_many_tasks_none_counts() -> None:
    """P8: of a group that is too long they are not even decoded."""
    many = {f"t{n}": 1 for n in range(BODY.most // 10)}
    group = a_group().of(len(many)).of_tasks(many)
    found = PodGroup.decode(json.dumps(group.body).encode())
    assert found.spec.min_task_member == {}
    assert group_facts(found).tasks == {}


# --- beside Volcano -------------------------------------------------------------------------------

BESIDE = {**OURS, "type": QUOTA_CONDITION, "status": "True"}


@pytest.mark.parametrize(
    ("status", "kind"), [("True", "Unschedulable"), ("False", "Scheduled"), (None, "Scheduled")]
)
def test_beside_volcano_ours_is_found_with_its_place(status: str | None, kind: str) -> None:
    found = group_facts(decoded(OURS, {**BESIDE, "status": status}, {"type": "Ready"}))
    beside = found.quota_condition
    assert (beside.place, beside.first) == (1, "Unschedulable")
    assert (beside.stored.type, beside.stored.reason) == (kind, "QueueNotOpen")
    # Volcano's own has the words of the one that we write without it.
    assert found.condition.type == "Unschedulable"


def test_beside_volcano_of_several_the_first_counts() -> None:
    assert group_facts(decoded(BESIDE, BESIDE)).quota_condition.place == 0


@pytest.mark.parametrize("kind", ["Unschedulable", "volcano.sh/Ready_1"])
def test_beside_volcano_of_a_list_without_ours_the_first_is_known(kind: str) -> None:
    found = group_facts(decoded({"type": kind}, {"type": "Other"})).quota_condition
    assert found == NO_QUOTA_CONDITION._replace(first=kind)


@pytest.mark.parametrize("kind", [None, "", "a<b", "\u00e9", "a b", "x" * 400])
def test_beside_volcano_what_is_no_plain_word_cannot_be_tested(kind: str | None) -> None:
    assert group_facts(decoded({"type": kind})).quota_condition == NO_QUOTA_CONDITION


def test_beside_volcano_there_may_be_no_list() -> None:
    assert group_facts(decoded()).quota_condition == NO_QUOTA_CONDITION
    assert a_group().facts().quota_condition == NO_QUOTA_CONDITION
