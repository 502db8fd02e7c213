"""What a write of a reservation tests instead of the group's version (T2)."""

import pytest

from builders import H200, a_group
from builders.group import GroupBody
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger.groups import LONGEST, StoredGroup, pointer

GANG = a_group().in_queue("queue").of(2)


def stored(group: GroupBody) -> StoredGroup | None:
    return group.facts().stored


def test_all_that_a_reservation_is_judged_by_is_tested() -> None:
    group = GANG.requesting({H200: 2}).needing({"cpu": "4", "memory": 1024}).of_tasks({"a": 2})
    found = stored(group)
    assert found is not None
    assert dict(found.tests()) == {
        "/spec/queue": "queue",
        "/spec/minMember": 2,
        "/spec/minResources": {"cpu": "4", "memory": 1024},
        "/spec/minTaskMember": {"a": 2},
        "/metadata/annotations/volcano.sh~1card.request": f'{{"{H200}": 2}}',
    }
    assert (found.annotated, found.reservation, found.settled) == (True, None, None)


def test_what_is_absent_is_tested_to_be_absent() -> None:
    found = stored(a_group().in_queue("queue").of(None))
    assert found is not None
    assert not found.annotated
    assert dict(found.tests())["/spec/minMember"] is None
    assert pointer(v.REQUEST) not in dict(found.tests())


def test_our_last_write_is_tested_too() -> None:
    group = GANG.reserving("queue", {H200: 2}).annotated(v.SETTLE, "mark")
    found = stored(group)
    assert found is not None
    assert found.reservation == group.body["metadata"]["annotations"][v.RESERVATION]
    assert found.settled == "mark"


def test_groups_that_are_alike_share_a_text() -> None:
    one, other = stored(GANG.needing({"cpu": "4"})), stored(GANG.needing({"cpu": "4"}))
    assert one is not None
    assert other is not None
    assert one.judged is other.judged


@pytest.mark.parametrize("text", ['{"A": 1}', '{\n  "A": 1\n}', "\t\\"])
def test_what_the_api_server_writes_as_we_do_is_tested(text: str) -> None:
    assert stored(GANG.requesting(text)) is not None


@pytest.mark.parametrize("text", ["<", "a>b", "A&B", "ä", "\x01", "\x7f", "\u2028", "x" * LONGEST])
def test_what_it_may_write_in_another_way_is_not(text: str) -> None:
    assert stored(GANG.requesting(text)) is None
    assert stored(GANG.annotated(v.RESERVATION, text)) is None
    assert stored(GANG.annotated(v.SETTLE, text)) is None


def test_nor_are_fractions_and_tables_that_are_not_read() -> None:
    assert stored(GANG.put({"cpu": 0.5}, "spec", "minResources")) is None
    assert stored(GANG.of_tasks({})) is None
