"""E6: the place of a member that a running gang has lost is kept for its replacement."""

import pytest

from builders import H200, H800, Body, a_group, a_namespace, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import Vacancy
from cardquota.quota.release import Starvation, set_aside

from ..releasing import a_cluster, later, member, names, release, runs, waiting

QUEUE = a_queue("red").with_quota({H200: 3, H800: 3})
GANG = a_group().in_queue("red").of(3)
EITHER = f"{H200}|{H800}"
AT_ONCE = Starvation(0.0, 1e9)
"""Nobody has waited too long but those who have at once."""


def running(*more: Body, queue: Body = QUEUE, cards: int = 1) -> Ledger:
    """A gang of three, with so many cards each."""
    return a_cluster(queue, GANG, *(runs(name, cards) for name in "abc"), *more)


def vacant(ledger: Ledger, queue: str = "red") -> dict[str, dict[str, int]]:
    return {key: dict(ledger.groups[key].vacant) for key in ledger.vacant.get(queue, ())}


def cards_vacant(ledger: Ledger) -> int:
    return vacant(ledger).get("team/gang", {}).get(H200, 0)


def dies(ledger: Ledger, *names: str) -> None:
    for name in names:
        ledger.pod_gone(f"uid-{name}")


def opened(ledger: Ledger) -> list[list[str]]:
    return release(ledger)[0]


def given_up(ledger: Ledger) -> None:
    """The time of all that is kept is over."""
    for keys in list(ledger.vacant.values()):
        for key in list(keys):
            noted = ledger.groups[key].vacancy
            assert noted is not None
            ledger.decisions.give_up_vacancy(key, noted)


def test_who_waits_does_not_get_the_place_of_a_member_that_died() -> None:
    ledger = running(waiting("old"))
    dies(ledger, "b")
    assert opened(ledger) == []
    see(ledger, later(member("b2")))
    assert opened(ledger) == [["b2"]]
    assert vacant(ledger) == {}


def test_once_the_time_is_over_who_waits_goes() -> None:
    ledger = running(waiting("old"))
    dies(ledger, "b")
    assert opened(ledger) == []
    ledger.dirty.take_pending()
    given_up(ledger)
    assert ledger.dirty.take_pending() == {"red"}
    assert opened(ledger) == [["old"]]


def test_who_was_told_before_that_there_is_no_room_waits_on_and_goes_in_time() -> None:
    ledger = running(waiting("old"))
    assert opened(ledger) == []
    dies(ledger, "b")
    assert release(ledger) == ([], [])
    given_up(ledger)
    assert opened(ledger) == [["old"]]


def test_who_waits_is_told_for_whom_the_place_is_kept() -> None:
    ledger = running(waiting("old"), waiting("far").in_namespace("elsewhere"))
    dies(ledger, "b")
    _, refusals = release(ledger)
    told = {refusal.pods[0].facts.namespace: refusal.verdict for refusal in refusals}
    assert {verdict.reason for verdict in told.values()} == {Reason.BEHIND}
    says = "keeps <NVIDIA-H200> <1> free for group <team/gang>, which runs"
    assert says in told["team"].text
    assert "free for a group, which runs" in told["elsewhere"].text


def test_a_group_that_is_to_be_enqueued_waits_and_is_told_too() -> None:
    other = a_group("other").in_queue("red").of(1).requesting({H200: 1})
    ledger = running(other)
    dies(ledger, "b")
    told, refusals = release(ledger)
    assert told == []
    [refusal] = [one for one in refusals if one.gang is not None]
    assert "free for group <team/gang>" in refusal.verdict.text
    given_up(ledger)
    assert opened(ledger) == [["team/other"]]


def test_what_the_gang_has_not_lost_is_free() -> None:
    ledger = running(waiting("old"), waiting("other", 3, H800), queue=QUEUE.with_quota({H200: 4}))
    dies(ledger, "b")
    assert opened(ledger) == [["old"]]
    ledger = running(waiting("other", 3, H800))
    dies(ledger, "b")
    assert opened(ledger) == [["other"]]


def test_who_may_use_either_gets_the_other() -> None:
    ledger = running(waiting("old", 1, EITHER))
    dies(ledger, "b")
    assert opened(ledger) == [["old"]]
    assert dict(ledger.pods["uid-old"].charge)[H800] == 1


def test_several_that_died_are_replaced_together_and_all_of_it_is_kept() -> None:
    ledger = running(waiting("old"), queue=QUEUE.with_quota({H200: 6}), cards=2)
    dies(ledger, "a", "b")
    assert cards_vacant(ledger) == 4
    see(ledger, later(member("a2", 2)))
    assert opened(ledger) == []
    see(ledger, later(member("b2", 2)))
    assert opened(ledger) == [["a2", "b2"]]


def test_of_a_member_beyond_the_minimum_nothing_is_kept() -> None:
    ledger = running(runs("d", 1), waiting("old"), queue=QUEUE.with_quota({H200: 4}))
    dies(ledger, "d")
    assert opened(ledger) == [["old"]]
    ledger = running(runs("d", 1), waiting("old"), queue=QUEUE.with_quota({H200: 4}))
    dies(ledger, "d", "a")
    assert cards_vacant(ledger) == 1
    assert opened(ledger) == [["old"]]
    see(ledger, later(waiting("older")))
    assert opened(ledger) == []


def test_a_larger_minimum_keeps_nothing_more() -> None:
    ledger = running(waiting("old"), queue=QUEUE.with_quota({H200: 4}))
    see(ledger, GANG.of(4).at_revision(9))
    assert opened(ledger) == [["old"]]
    dies(ledger, "a")
    assert cards_vacant(ledger) == 1


def test_of_one_that_failed_the_place_is_kept_and_of_one_that_succeeded_not() -> None:
    ledger = running(waiting("old"))
    see(ledger, runs("b", 1).in_phase("Failed").at_revision(9))
    assert opened(ledger) == []
    ledger = running(waiting("old"))
    see(ledger, runs("b", 1).in_phase("Succeeded").at_revision(9))
    assert opened(ledger) == [["old"]]


def test_one_that_succeeds_beside_a_loss_leaves_its_room_to_others() -> None:
    ledger = running(waiting("old"))
    dies(ledger, "b")
    see(ledger, runs("c", 1).in_phase("Succeeded").at_revision(9))
    assert cards_vacant(ledger) == 1
    assert opened(ledger) == [["old"]]


def test_one_that_ends_well_because_it_is_deleted_is_replaced_as_well() -> None:
    """As kubelets have it: its phase is Succeeded for a moment before it is gone."""
    ledger = running(waiting("old"))
    see(ledger, runs("b", 1).terminating().at_revision(8))
    see(ledger, runs("b", 1).terminating().in_phase("Succeeded").at_revision(9))
    assert opened(ledger) == []
    dies(ledger, "b")
    assert opened(ledger) == []
    assert cards_vacant(ledger) == 1


def test_while_the_whole_gang_is_being_deleted_nothing_is_kept() -> None:
    ledger = running(waiting("old"))
    for name in "ac":
        see(ledger, runs(name, 1).terminating().at_revision(8))
    dies(ledger, "b")
    assert opened(ledger) == [["old"]]


@pytest.mark.parametrize("end", ["last", "group", "queue"])
def test_when_the_gang_is_gone_or_elsewhere_nothing_is_kept(end: str) -> None:
    ledger = running(waiting("old"))
    dies(ledger, "b")
    assert opened(ledger) == []
    ledger.dirty.take_pending()
    if end == "last":
        dies(ledger, "a", "c")
    elif end == "group":
        ledger.group_gone("team/gang")
    else:
        see(ledger, a_queue("blue"), GANG.in_queue("blue").at_revision(9))
    assert "red" in ledger.dirty.take_pending()
    assert vacant(ledger) == {}
    assert ["old"] in opened(ledger)


def test_while_something_is_reserved_for_the_gang_that_is_what_is_kept() -> None:
    """T2: it has its own time (E8), after which the gang has lost its place."""
    ledger = running(waiting("old"))
    see(ledger, GANG.reserving("red", {H200: 3}, "t").at_revision(9))
    dies(ledger, "b")
    assert vacant(ledger) == {}
    assert opened(ledger) == []
    ledger.decisions.lose_place("team/gang")
    see(ledger, GANG.at_revision(10))
    assert opened(ledger) == [["old"]]


def test_a_gang_that_moves_to_another_queue_and_loses_one_there() -> None:
    blue = a_queue("blue").with_quota({H200: 3})
    ledger = running(blue)
    dies(ledger, "a")
    see(ledger, GANG.in_queue("blue").at_revision(9))
    moved = member("b").stamped("blue", {H200: 1}).on_node("h200-a").at_revision(9)
    see(ledger, moved)
    dies(ledger, "b")
    assert vacant(ledger, "blue") == {"team/gang": {H200: 1}}


def test_in_a_namespace_that_is_not_enforced_nothing_is_kept() -> None:
    ledger = running(a_namespace("team").in_mode("audit"), waiting("old").in_namespace("other"))
    dies(ledger, "b")
    assert opened(ledger) == [["old"]]


def test_the_replacement_may_be_smaller_and_the_rest_is_free_then() -> None:
    ledger = running(waiting("old"), queue=QUEUE.with_quota({H200: 6}), cards=2)
    dies(ledger, "b")
    see(ledger, later(member("b2", 1)))
    assert opened(ledger) == [["b2"], ["old"]]


def test_a_loss_beyond_the_time_of_the_last_one_is_kept_anew() -> None:
    ledger = running(waiting("old"), waiting("young"))
    dies(ledger, "b")
    first = ledger.groups["team/gang"].vacancy
    assert isinstance(first, Vacancy)
    dies(ledger, "a")
    ledger.decisions.give_up_vacancy("team/gang", first)
    ledger.decisions.give_up_vacancy("team/none", first)
    assert cards_vacant(ledger) == 2
    assert opened(ledger) == []


def test_a_member_of_another_gang_that_lacks_one_goes_past() -> None:
    """Both hold cards for nothing: who is there goes."""
    other = a_group("other").in_queue("red").of(2)
    queue = QUEUE.with_quota({H200: 4})
    ledger = running(other, runs("x", 1).in_group("other"), queue=queue)
    dies(ledger, "b")
    see(ledger, later(waiting("y").in_group("other")), waiting("old"))
    assert opened(ledger) == [["y"]]


def test_e6_in_a_fifo_queue_who_waits_for_the_place_holds_up_those_behind() -> None:
    ledger = running(waiting("old"), later(waiting("young")), queue=QUEUE.fifo())
    dies(ledger, "b")
    told, refusals = release(ledger)
    assert told == []
    assert names(refusals) == [["old", "young"]]
    assert {one.verdict.reason for one in refusals} == {Reason.BEHIND}
    assert opened(ledger) == []
    given_up(ledger)
    assert opened(ledger) == [["old"]]


def test_e6_in_a_fifo_queue_the_replacement_goes_first() -> None:
    ledger = running(waiting("old"), queue=QUEUE.fifo())
    dies(ledger, "b")
    assert opened(ledger) == []
    see(ledger, later(member("b2")))
    assert opened(ledger) == [["b2"]]


def test_a_replacement_without_room_is_not_passed_from_the_beginning() -> None:
    """It does not wait first until it has waited too long: its gang holds cards for nothing."""
    queue = QUEUE.with_quota({H200: 6})
    ledger = running(queue=queue, cards=2)
    dies(ledger, "b")
    given_up(ledger)
    see(ledger, waiting("quick"))
    assert opened(ledger) == [["quick"]]
    see(ledger, later(member("b2", 2)), waiting("small"))
    assert release(ledger, "red", AT_ONCE)[0] == []
    dies(ledger, "quick")
    assert release(ledger, "red", AT_ONCE)[0] == [["b2"]]


@pytest.mark.parametrize("cards", [H200, EITHER])
def test_what_a_waiting_replacement_has_set_aside_is_not_kept_twice(cards: str) -> None:
    """Two cards are vacant, and the replacement, which lacks cpu, asks for one: two are kept."""
    queue = a_queue("red").with_quota({H200: 8, H800: 0}).limited_to(cpu="10")
    hog = waiting("hog").with_cpu("8").stamped("red", {H200: 1})
    ledger = running(hog, queue=queue, cards=2)
    dies(ledger, "b")
    see(ledger, later(member("b2", 1, cards)).with_cpu("5"))
    see(ledger, waiting("small"), later(waiting("young")))
    assert release(ledger, "red", AT_ONCE)[0] == [["small"]]
    dies(ledger, "hog")
    assert release(ledger, "red", AT_ONCE)[0] == [["b2"], ["young"]]


def test_the_place_is_kept_for_some_gangs_of_a_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_aside, "MOST_VACANCIES", 1)
    other = a_group("other").in_queue("red").of(2)
    more: list[PodBody] = [runs(name, 1).in_group("other") for name in "xy"]
    ledger = running(other, *more, queue=QUEUE.with_quota({H200: 5}))
    dies(ledger, "b", "x")
    assert set(vacant(ledger)) == {"team/gang", "team/other"}
    see(ledger, waiting("old"), waiting("young"))
    assert len(opened(ledger)) == 1


def test_a_gate_of_the_replacement_that_does_not_open_keeps_the_place() -> None:
    ledger = running(waiting("old"))
    dies(ledger, "b")
    see(ledger, later(member("b2")))
    assert opened(ledger) == [["b2"]]
    stamp = ledger.pods["uid-b2"].assumed
    group = ledger.groups["team/gang"]
    assert stamp is not None
    assert group.reservation is not None
    ledger.decisions.retract("uid-b2", stamp, hold_back=True)
    assert opened(ledger) == []
    ledger.decisions.retract_reservation("team/gang", group.reservation)
    assert cards_vacant(ledger) == 1
    assert opened(ledger) == []


def test_a_leader_begins_the_time_of_each_loss_and_anew_of_all_when_its_term_begins() -> None:
    ledger = running()
    dies(ledger, "b")
    assert ledger.dirty.take_vacated(9) == ["team/gang"]
    assert ledger.dirty.take_vacated(9) == []
    dies(ledger, "c")
    assert ledger.dirty.take_vacated(9) == ["team/gang"]
    ledger.decisions.rest()
    ledger.decisions.begin_term()
    assert ledger.dirty.take_vacated(9) == ["team/gang"]
