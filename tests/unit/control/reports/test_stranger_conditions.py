"""V1: the queue of a pod that a stranger may not bind is marked, and again when that is over."""

import asyncio

import pytest

from builders import H200, a_pod, a_queue
from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.control.reports import stranger_conditions as module
from cardquota.control.reports.stranger_conditions import StrangerConditions
from cardquota.quota.reports.strangers import LASTING, SETTLING, UNCHANGED
from cardquota.quota.vocabulary import RefusedWrite

from ...containers import assert_nothing_grew, containers
from ..fakes import a_world

pytestmark = pytest.mark.fake_clock
USER = "system:serviceaccount:batch:volcano-scheduler"
BINDING = RefusedWrite.BINDING
MANY = 500


class MarkedQueues:
    """Which queues are marked when, in one term."""

    def __init__(self) -> None:
        names = [f"q{number}" for number in range(MANY)]
        pods = [
            a_pod(f"{queue}-{pod}").in_queue(queue).naming(H200).asking_for(1)
            for queue in ("red", "blue", *names)
            for pod in "ab"
        ]
        queues = [a_queue(name).with_quota({H200: 1}) for name in ("red", "blue", *names)]
        self.ledger = a_world(*queues, *pods)
        self.ledger.decisions.rest()
        self.names = names
        self.marked: list[set[str]] = []
        notifier = ChangeNotifier()
        notifier.listen(lambda: self.marked.append(self.ledger.dirty.take_changed()))
        loop = asyncio.get_running_loop()
        self.conditions = StrangerConditions(self.ledger, notifier, loop.time)

    def note(self, *pods: str, user: str = USER) -> None:
        self.conditions.note(BINDING, user, [a_pod(name).uid for name in pods])


@pytest.fixture
async def world() -> MarkedQueues:
    return MarkedQueues()


async def test_a_queue_is_marked_once_and_when_it_is_over(world: MarkedQueues) -> None:
    world.conditions.begin("term")
    await asyncio.sleep(SETTLING + 10)
    world.marked.clear()
    for _ in range(100):
        world.note("red-a")
        await asyncio.sleep(1)
    assert world.marked == [{"red"}]
    assert [one.pods for one in world.conditions.of("red").users] == [1]
    await asyncio.sleep(LASTING + 10)
    assert world.marked == [{"red"}, {"red"}]
    assert world.conditions.of("red") == (True, ())
    await asyncio.sleep(10 * LASTING)
    assert world.marked == [{"red"}, {"red"}]


async def test_more_pods_are_told_within_a_minute_or_so(world: MarkedQueues) -> None:
    world.conditions.begin("term")
    world.note("red-a", "blue-a", "unknown")
    world.note("red-b")
    assert world.marked == [{"red", "blue"}]
    await asyncio.sleep(UNCHANGED + 10)
    assert world.marked[1] >= {"red"}
    assert [one.pods for one in world.conditions.of("red").users] == [2]


async def test_nothing_is_known_outside_a_term_or_when_it_begins(world: MarkedQueues) -> None:
    leads = [world.conditions.leads]
    world.note("red-a")
    assert not world.conditions.of("red").known
    world.conditions.begin("term")
    leads.append(world.conditions.leads)
    assert leads == [False, True]
    assert not world.conditions.of("red").known
    assert await world.conditions.drain(1.0)
    assert world.conditions.all_seen
    await asyncio.sleep(SETTLING + 10)
    # What stood there from the former term is over, if nobody has told of it.
    assert world.marked == [{"red", "blue", *world.names}]
    world.note("red-a")
    await world.conditions.end()
    assert not world.conditions.of("red").known
    marked = len(world.marked)
    await asyncio.sleep(2 * LASTING)
    assert len(world.marked) == marked
    await world.conditions.end()


async def test_nothing_is_left_of_it(world: MarkedQueues) -> None:
    world.conditions.begin("term")
    await asyncio.sleep(SETTLING + 10)
    before = containers(world.conditions)
    for number in range(1_000):
        world.note("red-a", "red-b", "blue-a", user=f"user-{number}")
        await asyncio.sleep(0.01)
    assert containers(world.conditions)["StrangerConditions._strangers._queues[].found"] == 2 * 16
    await asyncio.sleep(2 * LASTING)
    assert_nothing_grew(before, containers(world.conditions))


async def test_many_queues_are_looked_at_in_slices(
    world: MarkedQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.conditions.begin("term")
    for name in world.names:
        world.note(f"{name}-a")
    looks: list[float] = []

    class EndedSlice:
        """One that is over after ten looks."""

        def __init__(self, *_: object) -> None:
            looks.append(asyncio.get_running_loop().time())
            self._left = 10

        @property
        def over(self) -> bool:
            self._left -= 1
            return self._left < 0

    monkeypatch.setattr(module, "TimeSlice", EndedSlice)
    await asyncio.sleep(LASTING + 30)
    assert all(world.conditions.of(name) == (True, ()) for name in world.names)
    assert len(looks) - len(set(looks)) >= MANY // 10 - 1
