"""The stored condition of a group: ours, if it is as we write it."""

from typing import Any

import pytest

from builders import a_group
from cardquota.quota import TASKS
from cardquota.quota.ledger.groups import FOREIGN, NO_QUOTA_CONDITION, QUOTA_CONDITION
from cardquota.quota.ledger.groups.group_facts import group_facts
from cardquota.quota.objects import PodGroup

OURS = {"type": "Unschedulable", "status": "True", "reason": "QueueNotOpen", "message": "closed"}


def decoded(*conditions: dict[str, Any], **status: Any) -> PodGroup:
    group = a_group().put({"conditions": list(conditions), **status}, "status")
    return group.wire()


def test_ours_is_found_among_others() -> None:
    when = "2026-05-01T12:00:00Z"
    other = {"type": "Ready", "status": "True"}
    found = group_facts(decoded(other, {**OURS, "lastTransitionTime": when})).condition
    assert (found.type, found.reason, found.since) == ("Unschedulable", "QueueNotOpen", when)


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


def test_of_very_many_tasks_none_counts() -> None:
    """P8."""
    many = {f"t{n}": 1 for n in range(TASKS.most + 1)}
    assert a_group().of(len(many)).of_tasks(many).facts().tasks == {}


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
