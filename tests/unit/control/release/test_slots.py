"""Gangs have their turns at the slots, and leave others theirs."""

import asyncio

from cardquota.control.release.namespace_circuit_breaker import NamespaceCircuitBreaker
from cardquota.control.release.slots import Claim, Slot, Slots


class Stage:
    """Slots, and gangs that ask for them."""

    def __init__(self, number: int = 8) -> None:
        self.suspects = NamespaceCircuitBreaker(number, lambda _: True)
        self.woken = 0
        self.slots = Slots(number, self.suspects, self._wake)
        self.taken: dict[Claim, list[Slot]] = {}

    def _wake(self) -> None:
        self.woken += 1

    def suspect(self, namespace: str) -> None:
        for _ in range(3):
            self.suspects.end(namespace, begun=self.suspects.begin(namespace), worked=False)

    async def gang(self, number: int, queue: str = "queue", namespace: str = "team") -> Claim:
        claim = self.slots.claim(queue, namespace, number)
        self.taken[claim] = []
        self._asking = asyncio.ensure_future(self._ask(claim))
        await asyncio.sleep(0)
        return claim

    async def _ask(self, claim: Claim) -> None:
        while claim.left:
            self.taken[claim] += await claim.some()

    async def hand_out(self, *, others_wait: bool = False) -> bool:
        more = self.slots.hand_out(others_wait=others_wait)
        for _ in range(3):
            await asyncio.sleep(0)
        return more

    def has(self, claim: Claim) -> int:
        return len(self.taken[claim])

    def answer(self, claim: Claim, number: int, worked: bool | None = None) -> None:
        for _ in range(number):
            self.slots.give_back(self.taken[claim].pop(), worked=worked)


async def test_a_gang_has_all_slots_where_nobody_else_wants_them_but_not_at_once() -> None:
    stage = Stage()
    gang = await stage.gang(20)
    await stage.hand_out()
    assert (stage.has(gang), stage.slots.free) == (4, 4)
    await stage.hand_out()
    assert (stage.has(gang), stage.slots.free) == (8, 0)
    await stage.hand_out()
    assert (stage.has(gang), gang.left) == (8, 12)


async def test_while_others_wait_gangs_together_have_half() -> None:
    stage = Stage()
    one, two = await stage.gang(20), await stage.gang(20, "other")
    await stage.hand_out()
    await stage.hand_out()
    assert (stage.has(one), stage.has(two)) == (4, 4)
    stage.answer(one, 1)
    await stage.hand_out(others_wait=True)
    assert stage.slots.free == 1
    stage.answer(two, 4)
    await stage.hand_out(others_wait=True)
    assert (stage.has(one), stage.has(two), stage.slots.free) == (4, 0, 4)


async def test_gangs_take_turns() -> None:
    stage = Stage()
    large, small = await stage.gang(1_000), await stage.gang(3, "other")
    await stage.hand_out()
    assert (stage.has(large), stage.has(small)) == (4, 3)
    stage.answer(small, 3)
    await stage.hand_out()
    assert stage.has(large) == 8


async def test_of_a_single_slot_gangs_and_others_have_every_other_turn() -> None:
    stage = Stage(1)
    gang = await stage.gang(5)
    await stage.hand_out(others_wait=True)
    stage.answer(gang, 1)
    await stage.hand_out(others_wait=True)
    assert (stage.has(gang), stage.slots.free) == (0, 1)
    stage.slots.give_back(stage.slots.take("other"), worked=True)
    await stage.hand_out(others_wait=True)
    assert stage.has(gang) == 1


async def test_gangs_of_suspect_namespaces_have_the_suspects_share_and_hold_up_no_gang() -> None:
    stage = Stage()
    stage.suspect("bad")
    bad, good = await stage.gang(20, namespace="bad"), await stage.gang(20, "other")
    for _ in range(3):
        await stage.hand_out()
    assert (stage.has(bad), stage.has(good)) == (2, 6)
    stage.answer(bad, 1, worked=True)
    await stage.hand_out()
    assert stage.slots.free == 0


async def test_another_gang_of_a_queue_begins_once_the_first_has_most_of_its_slots() -> None:
    stage = Stage()
    gang = await stage.gang(12)
    assert not stage.slots.may_start("queue")
    assert stage.slots.may_start("other")
    await stage.hand_out()
    await stage.hand_out()
    assert not stage.slots.may_start("queue")
    stage.answer(gang, 8)
    assert stage.slots.may_start("queue")
    gang.close()
    assert stage.slots.may_start("queue")
    assert not stage.slots._claims
    assert not stage.slots._claimed


async def test_one_of_a_suspect_namespace_holds_up_nobody_of_its_queue() -> None:
    stage = Stage()
    stage.suspect("bad")
    await stage.gang(12, namespace="bad")
    assert stage.slots.may_start("queue")


async def test_one_whose_namespace_becomes_suspect_holds_up_nobody_any_more() -> None:
    stage = Stage()
    bad, good = await stage.gang(12, namespace="bad"), await stage.gang(9, "other")
    await stage.hand_out()
    stage.answer(bad, 2, worked=False)
    assert not stage.slots.may_start("queue")
    stage.answer(bad, 1, worked=False)
    assert stage.slots.may_start("queue")
    assert not stage.slots.may_start("other")
    bad.close()
    good.close()
    assert not stage.slots._claimed


async def test_who_only_asks_gets_no_more_once_we_drain() -> None:
    stage = Stage()
    asks = stage.slots.claim("queue", "team", 3, asks=True)
    waits = asyncio.ensure_future(asks.some())
    opens = await stage.gang(2, "other")
    stage.slots.drain()
    await stage.hand_out()
    assert await asyncio.wait_for(waits, 1.0) == []
    assert await asyncio.wait_for(asks.some(), 1.0) == []
    assert (stage.has(opens), stage.slots.taken) == (2, 2)


async def test_many_slots_are_handed_out_some_at_a_time() -> None:
    """A patch is made for each of them in the same turn of the loop."""
    stage = Stage(256)
    gangs = [await stage.gang(100, f"q{n}") for n in range(4)]
    assert await stage.hand_out()
    assert [stage.has(gang) for gang in gangs] == [8, 8, 0, 0]
    assert await stage.hand_out()
    assert [stage.has(gang) for gang in gangs] == [8, 8, 8, 8]


async def test_who_does_not_ask_gets_none() -> None:
    stage = Stage()
    stage.slots.claim("queue", "team", 5)
    other = await stage.gang(2)
    assert not await stage.hand_out()
    assert (stage.has(other), stage.slots.taken) == (2, 2)
