"""E6: what is kept for a replacement is kept for a time, anew after each loss."""

import asyncio

import pytest

from builders import H200, Body, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.release.groups import VacancyTimeouts
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import Vacancy

from ...fakes import until
from ...leader import Leader, leading, waiting
from .test_reservation_timeouts import Timers

KEY = "team/gang"


def a_member(name: str) -> PodBody:
    pod = a_pod(name).in_queue("red").in_group("gang").naming(H200).asking_for(1)
    return pod.stamped("red", {H200: 1}).on_node("h200-a")


class VacancyStage:
    def __init__(self, wait: float = 60.0) -> None:
        self.timers = Timers()
        gang = a_group().in_queue("red").of(3)
        members = [a_member(name) for name in "abc"]
        self.ledger: Ledger = a_ledger(a_queue("red").with_quota({H200: 8}), gang, *members)
        self.given_up: list[tuple[str, Vacancy]] = []
        self.timeouts = VacancyTimeouts(wait, self.give_up, later=self.timers.later)

    def give_up(self, key: str, vacancy: Vacancy) -> None:
        self.given_up.append((key, vacancy))
        self.ledger.decisions.give_up_vacancy(key, vacancy)

    def look(self) -> None:
        keys = self.ledger.vacant.get("red", ())
        self.timeouts.look(self.ledger.groups[key] for key in keys)

    def vacant(self) -> bool:
        return "red" in self.ledger.vacant


def test_a_loss_has_its_time_once() -> None:
    stage = VacancyStage()
    stage.look()
    assert stage.timers.seconds == []
    stage.ledger.pod_gone("uid-a")
    stage.look()
    stage.look()
    assert stage.timers.seconds == [60.0]
    assert stage.vacant()
    stage.timers.calls[0]()
    assert [key for key, _ in stage.given_up] == [KEY]
    assert not stage.vacant()
    assert len(stage.timeouts) == 0


def test_a_further_loss_begins_it_anew() -> None:
    stage = VacancyStage()
    stage.ledger.pod_gone("uid-a")
    stage.look()
    stage.ledger.pod_gone("uid-b")
    stage.look()
    assert stage.timers.seconds == [60.0, 60.0]
    assert stage.timers.cancelled == 1
    assert len(stage.timeouts) == 1


def test_who_was_replaced_meanwhile_is_not_in_the_way() -> None:
    stage = VacancyStage()
    stage.ledger.pod_gone("uid-a")
    stage.look()
    see(stage.ledger, a_member("d"))
    assert not stage.vacant()
    stage.timers.calls[0]()
    assert not stage.vacant()
    assert len(stage.timeouts) == 0


def test_without_time_nothing_is_kept() -> None:
    stage = VacancyStage(0.0)
    stage.ledger.pod_gone("uid-a")
    stage.look()
    assert stage.timers.seconds == []
    assert not stage.vacant()


def test_at_the_end_of_the_term_nothing_is_timed() -> None:
    stage = VacancyStage()
    stage.ledger.pod_gone("uid-a")
    stage.look()
    stage.timeouts.stop()
    assert stage.timers.cancelled == 1
    assert len(stage.timeouts) == 0
    assert stage.vacant()


def a_running_gang() -> list[Body]:
    """Of three, in a queue of three."""
    gang = a_group().in_queue("queue").of(3)
    members = [a_member(name).stamped("queue", {H200: 1}) for name in "abc"]
    return [a_queue().with_quota({H200: 3}), gang, *members]


async def kept_for(leader: Leader, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    leader.ledger.pod_gone("uid-b")
    leader.releaser.wake()
    await until(lambda: "other" in leader.opened, 120)
    assert seconds <= loop.time() - began < seconds + 5


@pytest.mark.fake_clock
@pytest.mark.parametrize("wait", [0.0, 60.0])
async def test_e6_the_leader_keeps_a_place_for_a_time(wait: float) -> None:
    async with leading(*a_running_gang(), waiting("other"), replacement_wait=wait) as leader:
        await until(lambda: not leader.releaser.busy)
        assert leader.opened == []
        await kept_for(leader, wait)


@pytest.mark.fake_clock
async def test_e6_the_leader_opens_the_gate_of_a_replacement_at_once() -> None:
    async with leading(*a_running_gang(), waiting("other"), replacement_wait=60.0) as leader:
        leader.ledger.pod_gone("uid-b")
        leader.releaser.wake()
        await asyncio.sleep(5)
        assert leader.opened == []
        leader.see(waiting("b2").in_group("gang"))
        await until(lambda: "b2" in leader.opened, 5)
        assert "other" not in leader.opened
