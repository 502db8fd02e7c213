"""A gang starts whole or not at all, whoever objects; E8: what it does not use is given back."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from builders import H200, a_group, a_queue
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.cluster.api import ApiError
from cardquota.control.release import gang_start as start_module
from cardquota.control.release import gate_releaser as module
from cardquota.quota import vocabulary as v

from ...fakes import (
    TERM,
    Answer,
    Call,
    account,
    charged,
    denied,
    lost,
    no_charge_is_left,
    refused,
    stored,
    until,
)
from ...leader import GANG, THREE, Leader, leading, reservations, waiting
from .test_reservation_timeouts import Timers

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]


def member(name: str, cards: int = 1) -> PodBody:
    return waiting(name, cards).in_group("gang")


def running(name: str, cards: int = 1) -> PodBody:
    return member(name, cards).stamped("queue", {H200: cards}).on_node("h200-a").at_revision(9)


def not_b(call: Call) -> Answer:
    """Somebody's webhook has something against one of the pods."""
    return ApiError(403, "Forbidden", "not b") if call.path.endswith("/b") else stored(100)


async def test_all_are_asked_before_anything_is_written() -> None:
    async with leading(THREE, GANG, member("a"), member("b")) as leader:
        leader.script.on_call = lambda _: order.append(len(leader.script.asked))
        order: list[int] = []
        await until(lambda: sorted(leader.opened) == ["a", "b"])
        assert order[0] == 2
        assert {call.params["dryRun"] for call in leader.script.asked} == {"All"}
        gates = [call for call in leader.script.patches if "/pods/" in call.path]
        assert [call.body for call in leader.script.asked] == [call.body for call in gates]


async def test_of_pods_that_one_controller_made_alike_only_one_is_asked_about() -> None:
    gang = a_group("gang").in_queue("queue").of(7)
    alike = [member(name).owned_by("Job") for name in "abc"]
    others = [member("d").owned_by("Job", name="p"), member("e", 2).owned_by("Job")]
    alone = [member("y"), member("z")]
    quota = a_queue("queue").with_quota({H200: 9}).with_policy("Gate")
    async with leading(quota, gang, *alike, *others, *alone) as leader:
        await until(lambda: len(leader.opened) == 7)
        asked = sorted(call.path.rpartition("/")[2] for call in leader.script.asked)
        assert asked == ["a", "d", "e", "y", "z"]


async def test_what_is_said_of_one_is_said_of_all_that_are_like_it() -> None:
    alike = [member(name).owned_by("Job") for name in "ab"]
    async with leading(THREE, GANG, *alike) as leader:
        leader.script.would_answer = lambda _: ApiError(403, "Forbidden", "no")
        await until(lambda: leader.tells("gang") == [v.GATE_REFUSED])
        assert leader.opened == []
        assert reservations(leader) == []
        await until(lambda: no_charge_is_left(leader.ledger))


async def test_a_gang_of_which_one_may_not_start_does_not_start_until_nobody_objects() -> None:
    async with leading(THREE, GANG, member("a"), member("b")) as leader:
        leader.script.would_answer = not_b
        await until(lambda: len(leader.script.asked) >= 4)
        assert leader.opened == []
        assert reservations(leader) == []
        assert leader.tells("gang") == [v.GATE_REFUSED]
        (text,) = [text for who, _, text in leader.told.events if who == "gang"]
        assert "pod <b>" in text
        assert "not b" in text
        assert leader.tells("a") == []
        await until(lambda: no_charge_is_left(leader.ledger))
        leader.script.would_answer = lambda _: stored(100)
        await until(lambda: sorted(leader.opened) == ["a", "b"])
        assert charged(leader.ledger, H200) == 2


async def test_another_member_takes_the_place_of_the_one_that_may_not_start() -> None:
    async with leading(THREE, GANG, member("a"), member("b"), member("c")) as leader:
        leader.script.would_answer = not_b
        await until(lambda: sorted(leader.opened) == ["a", "c"])


@pytest.mark.parametrize("answer", [lost(), refused(429), refused(409), refused(404)])
async def test_where_the_answer_is_no_objection_it_is_asked_again(answer: Exception) -> None:
    """Nobody is told: it may be a moment's trouble, or the pod's own news are on the way."""
    async with leading(THREE, GANG, member("a"), member("b")) as leader:
        answers: list[Answer] = [answer]
        leader.script.would_answer = lambda _: answers.pop() if answers else stored(100)
        await until(lambda: sorted(leader.opened) == ["a", "b"])
        told = [] if not isinstance(answer, ApiError) or answer.status != 429 else [v.GATE_REFUSED]
        assert leader.tells("gang") == told


async def test_too_near_to_the_end_of_the_term_nobody_is_asked() -> None:
    async with leading(THREE, GANG, member("a"), member("b")) as leader:

        def late(_: Call) -> Answer:
            leader.left = 0.0
            return stored(100)

        leader.script.would_answer = late
        await until(lambda: len(leader.script.asked) == 1)
        await until(lambda: no_charge_is_left(leader.ledger))
        assert leader.opened == []
        assert reservations(leader) == []


async def test_a_group_that_moves_meanwhile_gets_no_reservation_in_its_old_queue() -> None:
    """It is written on the group as it was judged, or not at all."""
    async with leading(THREE, GANG, member("a"), member("b")) as leader:

        def move(_: Call) -> Answer:
            leader.see(GANG.in_queue("other").at_revision(7))
            return stored(100)

        def conflict(call: Call) -> Answer:
            written = "/podgroups/" in call.path and call.method == "PATCH"
            return refused(409) if written else stored(100)

        leader.script.would_answer, leader.script.answer_to = move, conflict
        await until(lambda: reservations(leader))
        assert reservations(leader)[0].body["metadata"]["resourceVersion"] == "1"
        await until(lambda: no_charge_is_left(leader.ledger))
        assert leader.opened == []


async def test_e2_while_one_is_taken_back_no_other_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (start_module, module):
        monkeypatch.setattr(one, "AT_A_TIME", 3)
    pods = [member(f"p{n:02}") for n in range(12)]
    world = (a_queue().with_quota({H200: 100}), GANG.of(6), *pods)
    async with leading(*world, answers=(refused(409),)) as leader:
        asked: list[int] = []

        def counted(call: Call) -> None:
            if "/podgroups/" in call.path and call.method == "PATCH":
                asked.append(len(leader.script.asked))

        leader.script.on_call = counted

        async def stirred() -> None:
            while not leader.opened:
                leader.ledger.dirty.pending.add("queue")
                leader.releaser.wake()
                await asyncio.sleep(0)

        await asyncio.wait_for(stirred(), 5)
        assert asked == [6, 12], "all six are asked about each time"


def _once_reserved(leader: Leader, group: GroupBody, happens: Callable[[], None]) -> None:
    """What happens while the first reservation is being written; then it is seen."""

    def answer(call: Call) -> Answer:
        if "/podgroups/" in call.path and len(reservations(leader)) == 1:
            happens()
            text = reservations(leader)[0].body["metadata"]["annotations"][v.RESERVATION]
            leader.see(group.annotated(v.RESERVATION, text).at_revision(100))
        return stored(100)

    leader.script.answer_to = answer


async def test_e2_a_gang_that_loses_a_member_while_it_is_reserved_waits_whole_for_another() -> None:
    three = GANG.of(3)
    async with leading(THREE, three, *map(member, "abc"), reservation_timeout=30) as leader:
        _once_reserved(leader, three, lambda: leader.ledger.pod_gone("uid-c"))
        await until(lambda: reservations(leader) and leader.idle)
        assert leader.opened == []
        row = account(leader.ledger).row(H200)
        assert (row.inqueue, row.allocated) == (3, 0), "it is reserved still"
        leader.see(member("c").with_uid("another"))
        await until(lambda: sorted(leader.opened) == ["a", "b", "c"])
        assert len(reservations(leader)) == 2


async def test_e2_nor_does_it_start_with_one_that_is_being_deleted() -> None:
    async with leading(THREE, GANG, member("a"), member("b")) as leader:
        going = member("b").terminating().at_revision(9)
        _once_reserved(leader, GANG, lambda: leader.see(going))
        await until(lambda: reservations(leader) and leader.idle)
        assert leader.opened == []


async def test_e2_a_minimum_that_is_raised_while_it_is_reserved_counts() -> None:
    async with leading(THREE, GANG, member("a"), member("b")) as leader:
        _once_reserved(leader, GANG.of(3), lambda: leader.see(GANG.of(3).at_revision(50)))
        await until(lambda: reservations(leader) and leader.idle)
        assert leader.opened == []
        leader.see(member("c"))
        await until(lambda: sorted(leader.opened) == ["a", "b", "c"])


async def test_who_objects_only_afterwards_is_told_on_the_group() -> None:
    answers = (stored(5), refused(403))
    async with leading(THREE, GANG, member("a"), member("b"), answers=answers) as leader:
        await until(lambda: v.GATE_REFUSED in leader.tells("gang"))
        (text,) = [text for who, _, text in leader.told.events if who == "gang"]
        assert "<1> of the <2> pods" in text


async def test_where_nothing_of_it_runs_the_reservation_is_given_back_at_once() -> None:
    answers = (stored(5), refused(403), refused(403))
    async with leading(THREE, GANG, member("a"), member("b"), answers=answers) as leader:
        await until(lambda: len(leader.opened) == 2)
        leader.script.answer_to = lambda _: refused(403)
        leader.see(GANG.reserving("queue", {H200: 2}, TERM).at_revision(5))
        await until(lambda: {v.RESERVATION: None} in _group_notes(leader))


def _group_notes(leader: Leader) -> list[dict[str, Any]]:
    return [call.body["metadata"]["annotations"] for call in _group_writes(leader)]


def _group_writes(leader: Leader) -> list[Call]:
    return [call for call in leader.script.patches if "/podgroups/" in call.path]


TWO = GANG.of(2).reserving("queue", {H200: 2}).at_revision(5)


async def test_e8_it_is_taken_away_again_and_again_until_it_is_gone() -> None:
    world = (THREE, TWO, running("a"))
    answers = (denied(409), denied(404), refused(500), lost())
    async with leading(*world, answers=answers, reservation_timeout=0.05) as leader:
        await until(lambda: len(_group_writes(leader)) == 5)
        assert leader.tells("gang") == [v.RESERVATION_EXPIRED] * 2


async def test_e8_who_does_not_let_it_be_taken_away_is_told_once_with_what_stays_reserved() -> None:
    async with leading(THREE, TWO, running("a"), reservation_timeout=0.05) as leader:
        leader.script.answer_to = lambda _: denied(403)
        await until(lambda: len(_group_writes(leader)) >= 4)
        expired, kept = (text for who, _, text in leader.told.events if who == "gang")
        assert "the rest of the reservation is given back: <NVIDIA-H200> <1>." in expired
        assert denied(403).message in kept
        assert "Queue <queue> still holds for the group: <NVIDIA-H200> <1>;" in kept
        assert account(leader.ledger).row(H200).inqueue == 1


def _pod_writes_wait(leader: Leader) -> asyncio.Event:
    """Gates are asked to be opened and nobody answers, until the event is set."""
    event = asyncio.Event()
    answer = leader.script.patch

    async def patch(path: str, body: object, **more: Any) -> bytes:
        found = await answer(path, body, **more)
        if "/pods/" in path and "dryRun" not in (more.get("params") or {}):
            await event.wait()
        return found

    leader.script.patch = patch  # type: ignore[method-assign]
    return event


async def test_e8_nothing_is_given_back_while_a_gate_is_on_its_way() -> None:
    other = a_group("other").in_queue("queue").of(2).reserving("queue", {H200: 1}).at_revision(5)
    world = (THREE, TWO, other, running("a"), running("x").in_group("other"), member("b"))
    async with leading(*world, reservation_timeout=0.05) as leader:
        answer = _pod_writes_wait(leader)
        await until(lambda: leader.opened == ["b"])
        await until(lambda: leader.tells("other") == [v.RESERVATION_EXPIRED])
        leader.see(running("a").at_revision(10))
        await until(lambda: _group_writes(leader))
        assert [call.path.rpartition("/")[2] for call in _group_writes(leader)] == ["other"]
        assert leader.tells("gang") == []
        answer.set()
        await until(lambda: leader.tells("gang") == [v.RESERVATION_EXPIRED])
        await until(lambda: "gang" in _group_writes(leader)[-1].path)


async def test_a_group_that_moves_keeps_its_reservation_while_a_gate_is_on_its_way() -> None:
    world = (THREE, TWO, running("a"), member("b"))
    async with leading(*world) as leader:
        answer = _pod_writes_wait(leader)
        await until(lambda: leader.opened == ["b"])
        moved = TWO.in_queue("other").at_revision(6)
        late = a_group("late").in_queue("queue").of(2).reserving("queue", {H200: 1}).at_revision(5)
        leader.see(moved, late)
        await until(lambda: _group_writes(leader))
        assert "late" in _group_writes(leader)[0].path
        assert len(_group_writes(leader)) == 1
        answer.set()
        await until(lambda: "gang" in _group_writes(leader)[-1].path)


async def test_e8_an_equal_reservation_has_a_time_of_its_own() -> None:
    timers = Timers()
    async with leading(THREE, GANG, member("a"), member("b"), later=timers.later) as leader:
        await until(lambda: len(timers.calls) == 1)
        leader.see(GANG.reserving("queue", {H200: 2}, TERM).at_revision(101))
        for uid in list(leader.ledger.pods):
            leader.ledger.pod_gone(uid)
        leader.see(GANG.at_revision(102), member("c"), member("d"))
        await until(lambda: len(leader.opened) == 4)
        await until(lambda: (len(timers.calls), timers.cancelled) == (2, 1))
