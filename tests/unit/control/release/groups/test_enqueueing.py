"""E1, T2, E8: a group is enqueued before its pods are there, and loses that if they do not come."""

import asyncio

import pytest

from builders import H200, a_group
from cardquota.quota import read_reservation
from cardquota.quota import vocabulary as v

from ...fakes import TERM, account, charged, refused, until
from ...leader import GANG, THREE, Leader, leading, reservations, waiting
from .test_reservation_timeouts import Timers

pytestmark = [pytest.mark.usefixtures("soon"), pytest.mark.fake_clock]

ASKS = GANG.asking({H200: 2})


async def enqueued(leader: Leader) -> None:
    await until(lambda: leader.tells("gang") == [v.ENQUEUED])
    leader.see(ASKS.enqueued("queue", {H200: 2}, TERM).at_revision(900))


async def test_e1_what_a_group_asks_for_is_written_on_it_and_told() -> None:
    other = a_group("other").in_queue("queue").of(2).asking({H200: 2})
    async with leading(THREE, ASKS, other, phases=True) as leader:
        await until(lambda: leader.tells("gang") == [v.ENQUEUED])
        await until(lambda: leader.tells("other") == [v.Reason.INSUFFICIENT_CARD])
        first = next(c for c in reservations(leader) if c.path.endswith("/gang"))
        found = read_reservation(first.body["metadata"]["annotations"][v.RESERVATION])
        assert found is not None
        assert (found.amounts, found.request) == (((H200, 2),), ASKS.facts().request.mark)
        assert first.body["status"]["phase"] == "Inqueue"
        assert charged(leader.ledger, H200) == 2
        assert leader.opened == []


async def test_t2_its_pods_start_together_in_what_is_reserved() -> None:
    async with leading(THREE, ASKS) as leader:
        await enqueued(leader)
        leader.see(waiting("a").in_group("gang"))
        await asyncio.sleep(0.01)
        assert leader.opened == []
        leader.see(waiting("b").in_group("gang"))
        await until(lambda: sorted(leader.opened) == ["a", "b"])
        notes = [call.body["metadata"]["annotations"] for call in reservations(leader)]
        found = [read_reservation(one[v.RESERVATION] or "") for one in notes]
        assert [bool(one.request) for one in found if one] == [True, False]
        assert charged(leader.ledger, H200) == 2


@pytest.mark.parametrize("answer", [refused(403), refused(404), refused(422)])
async def test_one_that_is_refused_holds_nothing_and_is_tried_again(answer: Exception) -> None:
    async with leading(THREE, ASKS, answers=(answer,)) as leader:
        await until(lambda: len(reservations(leader)) == 1)
        await until(lambda: charged(leader.ledger, H200) == 0)
        await until(lambda: len(reservations(leader)) == 2)
        await until(lambda: v.ENQUEUED in leader.tells("gang"))
        assert charged(leader.ledger, H200) == 2


async def test_e8_without_its_pods_it_loses_the_reservation_and_its_place() -> None:
    timers = Timers()
    async with leading(THREE, ASKS, later=timers.later) as leader:
        await enqueued(leader)
        await until(lambda: bool(timers.calls))
        timers.calls[-1]()
        await until(lambda: v.RESERVATION_EXPIRED in leader.tells("gang"))
        text = next(t for _, reason, t in leader.told.events if reason == v.RESERVATION_EXPIRED)
        assert text.startswith(
            f"Queue <queue>: <0> of the <2> pods of the group existed <300> s after it was "
            f"enqueued; the reservation is given back: <{H200}> <2>"
        )
        await until(lambda: len(reservations(leader)) == 2)
        assert reservations(leader)[1].body["metadata"]["annotations"] == {v.RESERVATION: None}
        leader.see(ASKS.at_revision(901))
        assert account(leader.ledger).row(H200).inqueue == 0
        await asyncio.sleep(0.01)
        assert len(reservations(leader)) == 2
        leader.see(waiting("a").in_group("gang"))
        assert charged(leader.ledger, H200) == 0  # others have their chance first
        timers.calls[-1]()
        await until(lambda: charged(leader.ledger, H200) == 2)


async def test_e8_whose_pods_have_come_and_wait_for_room_keeps_it() -> None:
    timers = Timers()
    async with leading(THREE, ASKS, later=timers.later) as leader:
        await until(lambda: leader.tells("gang") == [v.ENQUEUED])
        leader.see(THREE.with_quota({H200: 1}).at_revision(899))
        leader.see(ASKS.enqueued("queue", {H200: 2}, TERM).at_revision(900))
        leader.see(waiting("a").in_group("gang"), waiting("b").in_group("gang"))
        await until(lambda: bool(timers.calls))
        timers.calls[-1]()
        await asyncio.sleep(0.01)
        assert v.RESERVATION_EXPIRED not in leader.tells("gang")
        assert len(timers.calls) - timers.cancelled > 1
        leader.see(THREE.at_revision(901))
        await until(lambda: sorted(leader.opened) == ["a", "b"])


async def test_e8_whose_pods_have_come_and_wait_for_something_else_loses_it() -> None:
    """The pods name another queue than their group: they never start, whatever room there is."""
    timers = Timers()
    async with leading(THREE, ASKS, later=timers.later) as leader:
        await enqueued(leader)
        leader.see(*(waiting(name).in_queue("other").in_group("gang") for name in "ab"))
        await until(lambda: bool(timers.calls))
        timers.calls[-1]()
        await until(lambda: v.RESERVATION_EXPIRED in leader.tells("gang"))
        assert leader.opened == []


async def test_who_asks_for_something_else_is_enqueued_anew() -> None:
    async with leading(THREE, ASKS) as leader:
        await enqueued(leader)
        less = ASKS.enqueued("queue", {H200: 2}, TERM).asking({H200: 1})
        leader.see(less.at_revision(901))
        await until(lambda: len(reservations(leader)) == 2)
        assert reservations(leader)[1].body["metadata"]["annotations"] == {v.RESERVATION: None}
        leader.see(GANG.asking({H200: 1}).at_revision(902))
        await until(lambda: len(reservations(leader)) == 3)
        assert charged(leader.ledger, H200) == 1
