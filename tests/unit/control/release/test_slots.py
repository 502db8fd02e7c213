"""Gangs have their turns at the slots, and leave others theirs."""

import asyncio

from cardquota.control.release import NamespaceCircuitBreaker, Slot, SlotClaim, Slots


class SlotsWorld:
    """Slots, and gangs that ask for them."""

    def __init__(self, number: int = 8) -> None:
        self.breaker = NamespaceCircuitBreaker(number, lambda _: True)
        self.woken = 0
        self.slots = Slots(number, self.breaker, self._wake)
        self.taken: dict[SlotClaim, list[Slot]] = {}

    def _wake(self) -> None:
        self.woken += 1

    def trip(self, namespace: str) -> None:
        for _ in range(3):
            self.breaker.end(namespace, begun=self.breaker.begin(namespace), worked=False)

    async def gang(self, number: int, namespace: str = "team") -> SlotClaim:
        claim = self.slots.claim(namespace, number)
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
    world.trip("bad")
    bad, good = await world.gang(20, "bad"), await world.gang(20)
    for _ in range(3):
        await world.hand_out()
    assert (world.has(bad), world.has(good)) == (2, 6)
    world.answer(bad, 1, worked=True)
    await world.hand_out()
    assert world.slots.free == 0


async def test_who_only_asks_gets_no_more_once_we_drain() -> None:
    world = SlotsWorld()
    asks = world.slots.claim("team", 3, asks=True)
    waits = asyncio.ensure_future(asks.some())
    opens = await world.gang(2)
    world.slots.drain()
    await world.hand_out()
    assert await asyncio.wait_for(waits, 1.0) == []
    assert await asyncio.wait_for(asks.some(), 1.0) == []
    assert (world.has(opens), world.slots.taken) == (2, 2)


async def test_many_slots_are_handed_out_some_at_a_time() -> None:
    """A patch is made for each of them in the same turn of the loop."""
    world = SlotsWorld(256)
    gangs = [await world.gang(100, f"n{n}") for n in range(4)]
    assert await world.hand_out()
    assert [world.has(gang) for gang in gangs] == [8, 8, 0, 0]
    assert await world.hand_out()
    assert [world.has(gang) for gang in gangs] == [8, 8, 8, 8]
