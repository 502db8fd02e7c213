"""E8: who lets reservations end unused asks last for a while."""

import asyncio

import pytest

from builders import H200, Body, a_group, a_ledger, a_pod, a_queue, see
from builders.group import GroupBody
from cardquota.control.release import (
    HELD,
    LAST,
    ReservationTimeouts,
    UnusedReservations,
    group_releases,
)
from cardquota.quota import Reservation
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Opening
from cardquota.quota.release.cycle import openings

from ...fakes import TERM, charged, until
from ...leader import THREE, leading

pytestmark = pytest.mark.fake_clock


def asking(name: str, namespace: str, cards: int = 3) -> GroupBody:
    group = a_group(name).in_namespace(namespace).in_queue("red")
    return group.of(cards).requesting({H200: cards})


def enqueued(ledger: Ledger) -> list[str]:
    """Which groups would have something reserved now, the first first."""
    found = [one for one in openings(ledger, "red") if isinstance(one, Opening) and one.gang]
    return [one.gang.key for one in found if one.gang]


class AskingScene:
    def __init__(self, *things: Body) -> None:
        self.ledger = a_ledger(a_queue("red").with_quota({H200: 3}), *things)
        self.woken = list[int]()
        self.unused = UnusedReservations(self.ledger, lambda: self.woken.append(1))


async def test_e8_its_groups_ask_after_all_others_whatever_their_priority() -> None:
    early = asking("a", "evil").put("high", "spec", "priorityClassName")
    scene = AskingScene(early)
    scene.ledger.priority_class_seen("high", 100)
    assert enqueued(scene.ledger) == ["evil/a"]
    scene.unused.note("red", "evil")
    await asyncio.sleep(HELD + 0.1)
    see(scene.ledger, asking("z", "team"))
    assert enqueued(scene.ledger) == ["team/z"]
    scene.ledger.group_gone("team/z")
    assert enqueued(scene.ledger) == ["evil/a"]


async def test_e8_at_first_nothing_is_reserved_there() -> None:
    scene = AskingScene(asking("a", "evil"))
    scene.unused.note("red", "evil")
    see(scene.ledger, asking("b", "evil"))
    assert enqueued(scene.ledger) == []
    await asyncio.sleep(HELD + 0.1)
    assert scene.woken == [1]
    assert enqueued(scene.ledger)[0] == "evil/a"


async def test_e8_many_ends_hold_it_no_longer_than_one() -> None:
    """Else the jobs of a busy namespace would reserve nothing at all."""
    scene = AskingScene(asking("a", "evil"))
    for _ in range(5):
        scene.unused.note("red", "evil")
        await asyncio.sleep((HELD + 0.1) / 5)
    assert enqueued(scene.ledger) == ["evil/a"]


async def test_e8_it_is_forgotten_and_each_further_end_begins_anew() -> None:
    scene = AskingScene()
    scene.unused.note("red", "evil")
    await asyncio.sleep(HELD + 0.1)
    await asyncio.sleep(LAST - 1)
    scene.unused.note("red", "evil")
    await asyncio.sleep(HELD + 0.1)
    await asyncio.sleep(LAST - 1)
    assert scene.ledger.last == {("red", "evil"): False}
    await asyncio.sleep(2)
    assert scene.ledger.last == {}


async def test_p8_so_many_are_kept_and_none_after_the_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_releases, "MOST", 2)
    scene = AskingScene()
    for namespace in ("a", "b", "c"):
        scene.unused.note("red", namespace)
    assert set(scene.ledger.last) == {("red", "b"), ("red", "c")}
    scene.unused.stop()
    assert scene.ledger.last == {}


def reserved(mark: str = "mark") -> GroupBody:
    return asking("gang", "team").reserving("red", {H200: 3}, mark=mark).at_revision(2)


@pytest.mark.parametrize("end", ["deleted", "given back", "another request"])
async def test_e8_a_reservation_that_no_pod_used_ended_unused(end: str) -> None:
    ledger, found = a_ledger(a_queue("red").with_quota({H200: 8})), list[tuple[str, str]]()
    timeouts = ReservationTimeouts(
        300.0, lambda _: None, unused=lambda queue, namespace: found.append((queue, namespace))
    )
    see(ledger, reserved())
    timeouts.look("team/gang", ledger.groups["team/gang"])
    assert found == []
    if end == "deleted":
        ledger.group_gone("team/gang")
    elif end == "given back":
        see(ledger, asking("gang", "team").at_revision(3))
    else:
        see(ledger, reserved("other").at_revision(3))
    timeouts.look("team/gang", ledger.groups.get("team/gang"))
    assert found == [("red", "team")]


async def test_e8_one_that_pods_used_or_that_was_not_stored_did_not() -> None:
    ledger, found = a_ledger(a_queue("red").with_quota({H200: 8})), list[str]()
    timeouts = ReservationTimeouts(300.0, lambda _: None, unused=lambda name, _: found.append(name))
    see(ledger, asking("gang", "team", 1).at_revision(1))
    for _ in range(2):
        begun: Reservation = ledger.decisions.enqueue("team/gang", "red", "t", ((H200, 1),))
        timeouts.look("team/gang", ledger.groups["team/gang"])
        ledger.decisions.retract_reservation("team/gang", begun)
        timeouts.look("team/gang", ledger.groups["team/gang"])
    see(ledger, reserved())
    timeouts.look("team/gang", ledger.groups["team/gang"])
    see(ledger, a_pod("p").in_group("gang").asking_for(1).stamped("red", {H200: 1}))
    see(ledger, asking("gang", "team").at_revision(3))
    timeouts.look("team/gang", ledger.groups["team/gang"])
    assert found == []


@pytest.mark.parametrize("at_once", [9, 0, 1])
async def test_e8_nothing_is_reserved_there_in_what_has_just_become_free(at_once: int) -> None:
    """The pass that gives the room away again knows of the end: the next in order was made first,
    and in the same namespace; also while its groups are still to be looked at."""
    evil = [a_group(name).in_queue("queue").of(2).asking({H200: 3}) for name in ("g0", "g1", "g2")]
    other = a_group("other").in_namespace("honest").in_queue("queue").of(2).asking({H200: 3})
    async with leading(THREE, *evil, other, phases=True) as leader:
        await until(lambda: leader.tells("g0") == [v.ENQUEUED])
        await until(lambda: leader.tells("other") == [v.Reason.INSUFFICIENT_CARD])
        leader.see(evil[0].enqueued("queue", {H200: 3}, TERM).at_revision(900))
        await asyncio.sleep(0.1)
        leader.ledger.reassessment.at_once = at_once
        leader.ledger.group_gone("team/g0")
        leader.releaser.wake()
        await until(lambda: v.ENQUEUED in leader.tells("other"))
        await asyncio.sleep(HELD + 0.1)
        assert v.ENQUEUED not in leader.tells("g1")
        assert charged(leader.ledger, H200) == 3
