"""A take-over with thousands who wait: the leader gives way again and again, and loses nobody."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from builders import H200, H800, a_group, a_pod, a_queue
from cardquota.control.release import gate_releaser as module
from cardquota.control.release import pacing
from cardquota.quota.release import ReleaseJudge
from harness.fake_clock_loop import pass_by

from ..fakes import charged, no_charge_is_left, refused, until
from ..leader import Leader, leading, waiting


class Short:
    """A time slice of so many questions, the same on every machine."""

    asks = 40
    made = 0

    def __init__(self, *_: Any) -> None:
        Short.made += 1
        self._asked = 0

    @property
    def over(self) -> bool:
        return self.beyond(1.0)

    def beyond(self, part: float) -> bool:
        self._asked += 1
        return self._asked > part * self.asks

    async def give_way(self) -> None:
        if self.over:
            Short.made += 1
            self._asked = 0


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many candidates were judged in each slice."""
    counts = [0]
    judge: Callable[..., Any] = ReleaseJudge.judge

    def counted(self: ReleaseJudge, candidate: Any) -> Any:
        counts[-1] += 1
        return judge(self, candidate)

    class CountingSlice(Short):
        def __init__(self, *_: Any) -> None:
            super().__init__()
            counts.append(0)

    monkeypatch.setattr(ReleaseJudge, "judge", counted)
    monkeypatch.setattr(module, "TimeSlice", CountingSlice)
    return counts


async def test_unlike_pods_are_judged_some_at_a_time_and_all_are_told(judged: list[int]) -> None:
    pods = [waiting(f"p{n:03}", 9).with_cpu(f"{n + 1}m") for n in range(250)]
    async with leading(a_queue().with_quota({H200: 3}), *pods) as leader:
        turns = 0
        while len(leader.told.events) < 250:
            await asyncio.sleep(0)
            turns += 1
            assert turns < 5_000
        assert {name for name, _, _ in leader.told.events} == {f"p{n:03}" for n in range(250)}
    # Some are judged to be told, too, for not all answers are kept.
    assert max(judged) <= 2 * Short.asks
    assert turns > 250 / (2 * Short.asks)


async def test_queues_keep_their_order_however_often_he_gives_way(judged: list[int]) -> None:
    queues = [a_queue(f"q{n:03}").with_quota({H200: 1}).with_priority(n) for n in range(100)]
    pods = [waiting(f"p{n:03}").in_queue(f"q{n:03}") for n in range(100)]
    async with leading(*queues, *pods, in_flight=256) as leader:
        await until(lambda: len(leader.opened) == 100)
        assert leader.opened == [f"p{n:03}" for n in reversed(range(100))]
    assert len(judged) > 3


async def test_what_comes_while_it_gives_way_is_not_lost(judged: list[int]) -> None:
    unlike = [waiting(f"p{n:03}", 9).with_cpu(f"{n + 1}m") for n in range(250)]
    queue = a_queue().with_quota({H200: 3, H800: 1})
    async with leading(queue, *unlike) as leader:
        await asyncio.sleep(0)
        leader.see(waiting("late", 1, H800))
        await until(lambda: leader.opened == ["late"])
        await until(lambda: len(leader.told.events) == 250)


async def test_with_all_slots_taken_it_waits_and_turns_in_no_circles(judged: list[int]) -> None:
    pods = [waiting(f"p{n}") for n in range(20)]
    async with leading(a_queue().with_quota({H200: 50}), *pods, in_flight=4) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight == 4)
        slices = len(judged)
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(judged) <= slices + 2
        leader.script.hold.set()
        await until(lambda: len(leader.opened) == 20)


async def test_a_group_that_changes_while_it_is_kept_is_kept_again() -> None:
    group = a_group().in_queue("queue").of(1)
    async with leading(a_queue(), group, phases=True) as leader:
        leader.script.hold = asyncio.Event()
        await until(lambda: leader.script.in_flight == 1)
        member = a_pod("m").in_queue("queue").in_group("gang").managed()
        leader.see(member.on_node("h200-a"))
        await asyncio.sleep(0.01)
        assert len(leader.script.patches) == 1
        leader.script.hold.set()
        await until(lambda: len(leader.script.patches) >= 2)
        assert leader.script.patches[-1].body["status"]["running"] == 1


@pytest.mark.fake_clock
async def test_who_fails_as_a_whole_is_put_back_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TimeSlice", Short)
    monkeypatch.setattr(pacing, "TRY_AGAIN", 0.05)
    pods = [waiting(f"p{n:03}").in_group("gang") for n in range(100)]
    world = (a_queue().with_quota({H200: 100}), a_group().in_queue("queue").of(100), *pods)
    async with leading(*world, answers=(refused(409),)) as leader:
        put_back, number = leader.ledger.decisions.put_back, [0]

        def counted(uid: str) -> None:
            number[0] += 1
            put_back(uid)

        monkeypatch.setattr(leader.ledger.decisions, "put_back", counted)
        await until(lambda: sum(one.backed_off for one in leader.ledger.pods.values()) == 100)
        pass_by(0.06)  # all of them, while nobody has a turn
        most = 0
        while number[0] < 100:
            before = number[0]
            await asyncio.sleep(0)
            most = max(most, number[0] - before)
        assert most == 0.25 * Short.asks
        await until(lambda: len(leader.opened) == 100)
        await until(lambda: leader.idle)


async def test_the_end_of_a_term_gives_way_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Short, "asks", 10)
    monkeypatch.setattr(module, "TimeSlice", Short)
    pods = [waiting(f"p{n}") for n in range(100)]
    leader = Leader(a_queue().with_quota({H200: 100}), *pods, in_flight=200)
    leader.script.hold = asyncio.Event()
    term = asyncio.create_task(leader.releaser.run())
    await until(lambda: charged(leader.ledger, H200) == 100)
    made = Short.made
    term.cancel()
    await asyncio.gather(term, return_exceptions=True)
    assert Short.made - made >= 9
    assert no_charge_is_left(leader.ledger)
