"""Slots, namespaces whose gates do not open, and when what failed is tried again."""

import asyncio
from itertools import pairwise

import pytest

from cardquota.control.release import NamespaceCircuitBreaker, Retries, Slot, SlotClaim, Slots
from cardquota.control.release.pacing import AT_MOST, TRY_AGAIN
from harness.fake_clock_loop import pass_by

pytestmark = pytest.mark.fake_clock


class SlotsWorld:
    """Slots, and gangs that ask for them."""

    def __init__(self, number: int = 8) -> None:
        self.breaker = NamespaceCircuitBreaker(number, lambda _: True)
        self.woken = 0
        self.slots = Slots(number, self.breaker, self._wake)
        self.taken: dict[SlotClaim, list[Slot]] = {}

    def _wake(self) -> None:
        self.woken += 1

    async def gang(self, number: int, queue: str = "queue", namespace: str = "team") -> SlotClaim:
        claim = self.slots.claim(queue, namespace, number)
        self.taken[claim] = []
        self._asking = asyncio.ensure_future(self._ask(claim))
        await asyncio.sleep(0)
        return claim

    async def _ask(self, claim: SlotClaim) -> None:
        while claim.left:
            self.taken[claim] += await claim.some()

    async def hand_out(self, *, others_wait: bool = False) -> bool:
        more = self.slots.hand_out(others_wait=others_wait)
        for _ in range(3):
            await asyncio.sleep(0)
        return more

    def has(self, claim: SlotClaim) -> int:
        return len(self.taken[claim])

    def answer(self, claim: SlotClaim, number: int, worked: bool | None = None) -> None:
        for _ in range(number):
            self.slots.give_back(self.taken[claim].pop(), worked=worked)


async def test_a_gang_has_all_slots_where_nobody_else_wants_them_but_not_at_once() -> None:
    world = SlotsWorld()
    gang = await world.gang(20)
    await world.hand_out()
    assert (world.has(gang), world.slots.free) == (4, 4)
    await world.hand_out()
    assert (world.has(gang), world.slots.free) == (8, 0)
    await world.hand_out()
    assert (world.has(gang), gang.left) == (8, 12)


async def test_while_others_wait_gangs_together_have_half() -> None:
    world = SlotsWorld()
    one, two = await world.gang(20), await world.gang(20)
    await world.hand_out()
    await world.hand_out()
    assert (world.has(one), world.has(two)) == (4, 4)
    world.answer(one, 1)
    await world.hand_out(others_wait=True)
    assert world.slots.free == 1
    world.answer(two, 4)
    await world.hand_out(others_wait=True)
    assert (world.has(one), world.has(two), world.slots.free) == (4, 0, 4)


async def test_gangs_take_turns() -> None:
    world = SlotsWorld()
    large, small = await world.gang(1_000), await world.gang(3)
    await world.hand_out()
    assert (world.has(large), world.has(small)) == (4, 3)
    world.answer(small, 3)
    await world.hand_out()
    assert world.has(large) == 8


async def test_of_a_single_slot_gangs_and_others_have_every_other_turn() -> None:
    world = SlotsWorld(1)
    gang = await world.gang(5)
    await world.hand_out(others_wait=True)
    world.answer(gang, 1)
    await world.hand_out(others_wait=True)
    assert (world.has(gang), world.slots.free) == (0, 1)
    world.slots.give_back(world.slots.take("other"), worked=True)
    await world.hand_out(others_wait=True)
    assert world.has(gang) == 1


async def test_gangs_of_tripped_namespaces_have_their_share_and_hold_up_no_gang() -> None:
    world = SlotsWorld()
    fails(world.breaker, "bad")
    bad, good = await world.gang(20, namespace="bad"), await world.gang(20, "other")
    for _ in range(3):
        await world.hand_out()
    assert (world.has(bad), world.has(good)) == (2, 6)
    world.answer(bad, 1, worked=True)
    await world.hand_out()
    assert world.slots.free == 0


async def test_another_gang_of_a_queue_begins_once_the_first_has_most_of_its_slots() -> None:
    world = SlotsWorld()
    gang = await world.gang(12)
    assert not world.slots.may_start("queue")
    assert world.slots.may_start("other")
    await world.hand_out()
    await world.hand_out()
    assert not world.slots.may_start("queue")
    world.answer(gang, 8)
    assert world.slots.may_start("queue")
    world.slots.close(gang)
    assert world.slots.may_start("queue")


async def test_one_whose_namespace_is_tripped_holds_up_nobody_any_more() -> None:
    world = SlotsWorld()
    bad, good = await world.gang(12, namespace="bad"), await world.gang(9, "other")
    await world.hand_out()
    world.answer(bad, 2, worked=False)
    assert not world.slots.may_start("queue")
    world.answer(bad, 1, worked=False)
    assert world.slots.may_start("queue")
    assert not world.slots.may_start("other")
    world.slots.close(good)
    assert world.slots.may_start("other")


async def test_who_only_asks_gets_no_more_once_we_drain() -> None:
    world = SlotsWorld()
    asks = world.slots.claim("queue", "team", 3, asks=True)
    waits = asyncio.ensure_future(asks.some())
    opens = await world.gang(2)
    world.slots.drain()
    await world.hand_out()
    assert await asyncio.wait_for(waits, 1.0) == []
    assert await asyncio.wait_for(asks.some(), 1.0) == []
    assert (world.has(opens), world.slots.taken) == (2, 2)


async def test_many_that_only_ask_hear_that_we_drain_some_at_a_time() -> None:
    world = SlotsWorld()
    claims = [world.slots.claim(f"q{n}", "team", 1, asks=True) for n in range(40)]
    waits = [asyncio.ensure_future(one.some()) for one in claims]
    await asyncio.sleep(0)
    world.slots.drain()
    heard = []
    while await world.hand_out():
        heard.append(sum(one.done() for one in waits))
    assert heard == [16, 32]
    assert await asyncio.gather(*waits) == [[]] * 40


async def test_many_slots_are_handed_out_some_at_a_time() -> None:
    """A patch is made for each of them in the same turn of the loop."""
    world = SlotsWorld(256)
    gangs = [await world.gang(100, f"n{n}") for n in range(4)]
    assert await world.hand_out()
    assert [world.has(gang) for gang in gangs] == [8, 8, 0, 0]
    assert await world.hand_out()
    assert [world.has(gang) for gang in gangs] == [8, 8, 8, 8]


def a_breaker(slots: int = 8, gone: frozenset[str] = frozenset()) -> NamespaceCircuitBreaker:
    return NamespaceCircuitBreaker(slots, lambda namespace: namespace not in gone)


def fails(breaker: NamespaceCircuitBreaker, namespace: str, times: int = 3) -> None:
    for _ in range(times):
        breaker.end(namespace, begun=breaker.begin(namespace), worked=False)


def test_one_success_clears_it() -> None:
    breaker = a_breaker(1)
    fails(breaker, "a")
    begun = breaker.begin("a")
    assert not breaker.allows_patch("a")
    breaker.end("a", begun=begun, worked=True)
    breaker.begin("a")
    assert breaker.allows_patch("a")


def test_namespaces_that_are_gone_are_forgotten() -> None:
    """Bounded by those that exist, and some."""
    names = [f"n{number}" for number in range(1_000)]
    breaker = a_breaker(gone=frozenset(names))
    for name in names:
        fails(breaker, name, 1)
    assert len(breaker) <= 64


def test_of_a_tripped_namespace_one_gang_starts_at_a_time() -> None:
    breaker = a_breaker()
    start = breaker.start("a")
    assert breaker.allows_gang("a")
    fails(breaker, "a")
    fails(breaker, "b")
    assert not breaker.allows_gang("a")
    assert breaker.allows_gang("b")
    start.end()
    assert breaker.allows_gang("a")
    breaker.begin("b")
    breaker.begin("b")
    assert not breaker.allows_gang("a")


def test_a_start_that_is_ended_twice_ends_no_other() -> None:
    breaker = a_breaker()
    fails(breaker, "a")
    start, _ = breaker.start("a"), breaker.start("a")
    start.end()
    start.end()
    assert not breaker.allows_gang("a")


class Tried:
    def __init__(self) -> None:
        self.at: list[float] = []
        self.retries = Retries[str](lambda _: self.at.append(asyncio.get_running_loop().time()))


async def test_later_each_time_and_once_for_each_failure() -> None:
    tried, begun = Tried(), asyncio.get_running_loop().time()
    for number in range(1, 9):
        for _ in range(50):
            tried.retries.failed("a")
        await asyncio.sleep(AT_MOST)
        assert len(tried.at) == number
    assert TRY_AGAIN / 2 <= tried.at[0] - begun <= TRY_AGAIN
    pauses = [later - sooner - AT_MOST for sooner, later in pairwise(tried.at[:5])]
    assert pauses[3] > 2 * pauses[0] - TRY_AGAIN
    await asyncio.sleep(3 * AT_MOST)
    assert len(tried.retries) == 0, "it has not failed for long"


async def test_what_worked_begins_anew_and_is_not_tried_for_the_failure_before() -> None:
    tried = Tried()
    for _ in range(5):
        tried.retries.failed("a")
        tried.retries.worked("a")
    assert len(tried.retries) == 0
    tried.retries.failed("a")
    await asyncio.sleep(AT_MOST)
    assert len(tried.at) == 1


async def test_many_that_are_due_at_once_are_tried_some_at_a_time() -> None:
    tries: list[int] = []
    retries = Retries[int](tries.append)
    for number in range(1_000):
        retries.failed(number)
    pass_by(TRY_AGAIN)  # all of them, while nobody has a turn
    most = 0
    while len(tries) < 1_000:
        before = len(tries)
        await asyncio.sleep(0)
        most = max(most, len(tries) - before)
    assert (most, sorted(tries)) == (100, list(range(1_000)))
    steps = sum(1 for _ in retries.stop())
    assert (steps, len(retries)) == (1_000, 0)


async def test_nothing_after_the_end() -> None:
    tried = Tried()
    tried.retries.failed("a")
    for _ in tried.retries.stop():
        pass
    await asyncio.sleep(AT_MOST)
    assert (tried.at, len(tried.retries)) == ([], 0)
