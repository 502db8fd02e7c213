"""Reservations of groups that Volcano writes as well: no write names a version, and at most one of
those that nobody has answered lands (T2, I1).
"""

import copy
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from builders import GPU, H200, a_group, a_pod, a_queue
from builders.group import GroupBody
from cardquota.cluster.api import JSON_PATCH, MERGE_PATCH
from cardquota.control.release import PodGroupWriter
from cardquota.quota import Reservation, reservation_text
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import GroupFacts
from cardquota.quota.ledger.groups.group_facts import group_facts
from cardquota.quota.objects import PodGroup

from ...fakes import (
    TERM,
    Answer,
    Call,
    Script,
    a_world,
    a_writer,
    charged,
    denied,
    lost,
    no_charge_is_left,
    refused,
)

pytestmark = pytest.mark.fake_clock

KEY = "team/gang"
GANG = a_group().in_queue("queue").of(2)
NOTED = GANG.annotated("x", "y")
TEST_FAILED = refused(422)


class PatchedGroup:
    """The group at the API server. A write is done to it in one step, whenever it comes."""

    def __init__(self, group: GroupBody) -> None:
        self.group: Any = json.loads(json.dumps(group.body))
        self.late: list[Call] = []
        """Writes that have not come yet; nobody will answer them."""

    def answer(self, call: Call) -> Answer:
        if call.method == "PATCH":
            changed = _merged if call.content_type == MERGE_PATCH else _patched
            found = changed(copy.deepcopy(self.group), call.body)
            if found is None:
                return TEST_FAILED
            self.touch(found)
        return json.dumps({"metadata": self.group["metadata"]}).encode()

    def late_answer(self, call: Call) -> Answer:
        self.late.append(call)
        return lost()

    def answer_lost(self, call: Call) -> Answer:
        self.answer(call)
        return lost()

    def touch(self, found: Any = None) -> None:
        """As Volcano does it all the time."""
        self.group = found or self.group
        meta = self.group["metadata"]
        meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)

    def reservation(self) -> str | None:
        return (self.group["metadata"].get("annotations") or {}).get(v.RESERVATION)

    def facts(self) -> GroupFacts:
        return group_facts(msgspec.convert(self.group, PodGroup))

    def late_writes_come(self) -> int:
        """How many of them land."""
        return sum(isinstance(self.answer(call), bytes) for call in self.late)


def _patched(group: Any, changes: Any) -> Any:
    """None: a test fails."""
    for change in changes:
        *way, last = (part.replace("~1", "/") for part in change["path"].split("/")[1:])
        place = group
        for part in way:
            place = place.get(part)
            if place is None:
                return None
        if change["op"] == "test":
            if place.get(last) != change["value"]:
                return None
        elif change["op"] == "add":
            place[last] = change["value"]
        else:
            del place[last]
    return group


def _merged(group: Any, change: Any) -> Any:
    """None: it is of another version."""
    meta = change["metadata"]
    if meta["resourceVersion"] != group["metadata"]["resourceVersion"]:
        return None
    notes = {**(group["metadata"].get("annotations") or {}), **meta["annotations"]}
    group["metadata"]["annotations"] = {key: one for key, one in notes.items() if one is not None}
    return group


def beside_volcano(
    group: GroupBody, *answers: Any
) -> tuple[Ledger, PatchedGroup, PodGroupWriter, Script]:
    """`answers`: what becomes of each write, in this order, and then the store answers."""
    ledger = a_world(a_queue().with_quota({H200: 3}), group)
    store, left = PatchedGroup(group), list(answers)
    script = Script()

    def answer_to(call: Call) -> Answer:
        one: Answer | Callable[[PatchedGroup, Call], Answer] = (
            left.pop(0) if left and call.method == "PATCH" else PatchedGroup.answer
        )
        return one(store, call) if callable(one) else one

    script.answer_to = answer_to
    writer = a_writer(script, lambda: 60.0)
    groups = PodGroupWriter(ledger, writer, writer, conditions=None)
    return ledger, store, groups, script


def reserved(ledger: Ledger) -> tuple[GroupFacts, Reservation]:
    facts = ledger.groups[KEY].facts
    assert facts is not None
    return facts, ledger.decisions.reserve(KEY, "queue", TERM, ((H200, 2),))


def is_taken_back(ledger: Ledger, reservation: Reservation) -> bool:
    ledger.decisions.retract_reservation(KEY, reservation)
    return charged(ledger, H200) == 0 and no_charge_is_left(ledger)


@pytest.mark.parametrize("group", [GANG, NOTED, NOTED.requesting({H200: 2})])
async def test_t2_what_volcano_writes_meanwhile_is_in_nobodys_way(group: GroupBody) -> None:
    ledger, store, writer, script = beside_volcano(group)
    facts, reservation = reserved(ledger)
    store.touch()
    assert await writer.reserve(facts, reservation)
    assert store.reservation() == reservation_text(reservation)
    ledger.group_seen(store.facts())
    store.touch()
    assert await writer.update(KEY)  # nobody is left: it is over
    assert store.reservation() is None
    assert [call.content_type for call in script.calls] == [JSON_PATCH] * 2
    assert "resourceVersion" not in json.dumps([call.body for call in script.calls])


@pytest.mark.parametrize("group", [GANG, NOTED])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("queue", "another"),
        ("minMember", 3),
        ("minResources", {"cpu": "1"}),
        ("minTaskMember", {"a": 1}),
    ],
)
async def test_t2_what_it_is_judged_by_moved(group: GroupBody, field: str, value: object) -> None:
    ledger, store, writer, _ = beside_volcano(group)
    facts, reservation = reserved(ledger)
    store.group["spec"][field] = value
    heard: list[str] = []
    assert not await writer.reserve(facts, reservation, objected=heard.append)
    assert heard == []
    assert store.reservation() is None
    assert is_taken_back(ledger, reservation)


async def test_another_group_of_that_name_is_left_alone() -> None:
    ledger, store, writer, _ = beside_volcano(NOTED)
    facts, reservation = reserved(ledger)
    store.group["metadata"]["uid"] = "another"
    assert not await writer.reserve(facts, reservation)
    assert store.reservation() is None


@pytest.mark.parametrize("answer", [refused(403), denied(404), denied(409), denied(422)])
async def test_who_does_not_let_it_be_written_is_told_of(answer: Answer) -> None:
    ledger, _, writer, script = beside_volcano(NOTED, answer)
    heard: list[str] = []
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation, objected=heard.append)
    assert len(heard) == len(script.calls) == 1
    assert is_taken_back(ledger, reservation)


@pytest.mark.parametrize("group", [GANG, NOTED])
async def test_i1_what_is_given_up_cannot_land_even_if_all_is_as_it_was(group: GroupBody) -> None:
    """Its minimum is raised while nobody has answered, and lowered again afterwards."""
    ledger, store, writer, _ = beside_volcano(group, PatchedGroup.late_answer)
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation)
    assert is_taken_back(ledger, reservation)
    assert store.late_writes_come() == 0
    assert store.reservation() is None


@pytest.mark.parametrize("group", [GANG, NOTED])
async def test_i1_what_has_landed_stands_whoever_else_has_written(group: GroupBody) -> None:
    answers = PatchedGroup.answer_lost, PatchedGroup.late_answer
    ledger, store, writer, _ = beside_volcano(group, *answers)
    facts, reservation = reserved(ledger)
    store.touch()
    assert await writer.reserve(facts, reservation)
    assert charged(ledger, H200) == 2
    ledger.group_seen(store.facts())
    assert await writer.update(KEY)
    assert store.reservation() is None
    assert store.late_writes_come() == 0


async def test_i1_a_removal_that_comes_late_takes_nothing_away_that_is_alike() -> None:
    group = NOTED.reserving("queue", {H200: 2}, TERM)
    ledger, store, writer, _ = beside_volcano(group, PatchedGroup.late_answer)
    assert not await writer.update(KEY)
    assert await writer.update(KEY)
    assert store.reservation() is None
    ledger.group_seen(store.facts())
    assert await writer.reserve(*reserved(ledger))
    assert store.late_writes_come() == 0
    assert store.reservation() is not None


async def test_what_is_removed_is_not_removed_again_before_that_is_seen() -> None:
    group = NOTED.reserving("queue", {H200: 2})
    ledger, store, writer, script = beside_volcano(group)
    assert await writer.update(KEY)
    assert await writer.update(KEY)
    assert len(script.calls) == 1
    ledger.group_seen(store.facts())
    store.group = json.loads(json.dumps(group.body))
    store.touch()
    store.touch()
    ledger.group_seen(store.facts())  # and is there again, whoever wrote it
    assert await writer.update(KEY)
    assert (len(script.calls), store.reservation()) == (2, None)
    ledger.group_gone(KEY)
    assert await writer.update(KEY)


async def test_a_removal_that_landed_without_an_answer_is_not_repeated() -> None:
    removed = NOTED.reserving("queue", {H200: 2})
    _, store, writer, script = beside_volcano(removed, PatchedGroup.answer_lost)
    heard: list[str] = []
    assert not await writer.update(KEY, objected=heard.append)
    assert await writer.update(KEY, objected=heard.append)  # its watch event is on the way
    assert store.reservation() is None
    assert (heard, len(script.calls)) == ([], 2)


@pytest.mark.parametrize("answer", [lost(), refused(403), refused(429), denied(409)])
async def test_a_group_that_nobody_can_write_keeps_its_charge_until_one_can(answer: Answer) -> None:
    ledger, store, writer, script = beside_volcano(NOTED, PatchedGroup.late_answer, answer, answer)
    held: list[int] = []
    script.on_call = lambda _: held.append(charged(ledger, H200))
    heard: list[str] = []
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation, unsure=heard.append)
    assert set(held) == {2}
    assert len(heard) == 2
    assert store.late_writes_come() == 0


async def test_a_group_gets_its_first_annotation_while_nobody_has_answered() -> None:
    ledger, store, writer, _ = beside_volcano(GANG, PatchedGroup.late_answer)
    facts, reservation = reserved(ledger)
    store.group["metadata"]["annotations"] = {"x": "y"}
    assert not await writer.reserve(facts, reservation)
    assert store.late_writes_come() == 0
    del store.group["metadata"]["annotations"]["x"]
    assert store.late_writes_come() == 0


async def test_a_group_that_is_gone_while_nobody_has_answered() -> None:
    ledger, _, writer, script = beside_volcano(NOTED, lost(), refused(404))
    patched = script.answer_to
    script.answer_to = lambda call: refused(404) if call.method == "GET" else patched(call)
    facts, reservation = reserved(ledger)
    assert not await writer.reserve(facts, reservation)
    assert is_taken_back(ledger, reservation)


async def test_what_cannot_be_tested_names_the_version_and_rules_the_others_out() -> None:
    group = NOTED.requesting("<")
    ledger, store, writer, script = beside_volcano(group)
    assert await writer.reserve(*reserved(ledger))
    assert script.calls[0].content_type == MERGE_PATCH
    notes = script.calls[0].body["metadata"]["annotations"]
    assert set(notes) == {v.RESERVATION, v.SETTLE}
    assert store.reservation() is not None


async def test_each_write_leaves_another_mark() -> None:
    pod = a_pod("a").in_queue("queue").in_group("gang").naming(H200).asking_for(1, GPU)
    ledger, store, writer, _ = beside_volcano(NOTED)
    ledger.pod_seen(pod.gated().facts())
    marks = set()
    for _ in range(3):
        facts, reservation = reserved(ledger)
        assert await writer.reserve(facts, reservation)
        marks.add(store.group["metadata"]["annotations"][v.SETTLE])
        ledger.group_seen(store.facts())
    assert len(marks) == 3
