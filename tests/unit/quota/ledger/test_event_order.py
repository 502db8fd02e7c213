"""I2: each watch keeps the order of its own objects, no two watches keep step: no total may care.

What depends on order by rule is left out, or asserted as the rule has it. D7: of two nodes that
disagree on a card's resource the first stays, so no two disagree here. D8: a bound pod is charged
by what its node was, so nodes with unstamped pods keep their cards. I3: what came past us where
nothing was enforced counts by that, so namespaces with such pods keep their mode. Q4: the last good
quota stays, which is the order of one queue's own events.
"""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import H200, H800, Body, a_group, a_node, a_pod, a_queue, see
from builders.node import NodeBody
from builders.queue import QueueBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import Totals

from ..events import (
    Class,
    History,
    ToldEvent,
    merged,
    one_after_the_other,
    releases,
    state_of,
    told,
    totals,
)
from ..histories import FIXED, GROUPS, PRODUCT, clusters, turns_of


@given(st.data(), clusters(), st.sampled_from(("", "blue")), st.booleans())
def test_i2_watches_that_do_not_keep_step_give_the_same_state(
    data: st.DataObject, histories: list[History], default: str, free: bool
) -> None:
    options = {"default_queue": default, "exempt_cpu_memory": free}
    one = told(one_after_the_other(histories), **options)
    turns = data.draw(st.permutations(turns_of(histories)))
    other = told(merged(histories, turns), **options)
    assert state_of(other) == state_of(one)
    assert releases(other) == releases(one)


@given(st.data(), clusters())
def test_i2_who_lists_the_end_has_the_same_state_as_who_saw_the_whole_story(
    data: st.DataObject, histories: list[History]
) -> None:
    """A watch that was cut, or a replica that starts now, sees no short-lived states.

    Nodes and queues are told in full: which cards ever were (D8) and which quota was good last (Q4)
    is history by rule.
    """
    saw = told(merged(histories, data.draw(st.permutations(turns_of(histories)))))
    remembered = (NodeBody, QueueBody)
    ends = [
        history if isinstance(history[0].of, remembered) else history[-1:] for history in histories
    ]
    lists = told(merged(ends, data.draw(st.permutations(turns_of(ends)))))
    assert state_of(lists) == state_of(saw)
    assert releases(lists) == releases(saw)


# --- the same by name -----------------------------------------------------------------------


def a_ledger_of(*things: Body | Class) -> Ledger:
    return told(map(ToldEvent, things))


def test_p4_a_node_that_divides_all_its_cards_shows_that_a_pod_holds_no_whole_one() -> None:
    """What a pod past admission may have meant is charged only while no node shows the model."""
    sliced = a_node("mig-1").showing(H200).with_slices("1g.18gb", 7)
    queue, pod = a_queue("red").with_quota({H200: 1}), a_pod("p").in_queue("red").asking_for(1)
    assert totals(a_ledger_of(queue, pod))["red", H200].requested == 1
    for order in permutations((sliced, queue, pod)):
        assert totals(a_ledger_of(*order)) == {}


def test_p3_a_card_is_named_by_pods_that_ask_for_another_resource_too() -> None:
    """Their card is not to be had for that, whichever is seen first."""
    queue = a_queue("red").with_quota({H200: 3})
    pod = a_pod().in_queue("red").naming(f"{H200}|{H800}").requiring([(PRODUCT, "In", [H200])])
    things = queue, pod.asking_for(2, "other.example/gpu").gated(), FIXED["h800-1"]
    found = [a_ledger_of(*order).pods[pod.uid].request for order in permutations(things)]
    assert all(one == found[0] for one in found)


DCU, HCU = "hygon.com/dcu", "hygon.com/hcu"
FIRST = a_node("zz-1").with_cards("KK", 8, DCU)
SECOND = a_node("aa-1").with_cards("KK", 4, HCU)
RECORDED = a_queue("red").with_quota({"KK": 3}).having_reported("KK", 3, DCU)


def all_that_is_told(ledger: Ledger) -> tuple[object, ...]:
    problems = sorted(ledger.nodes.problems)
    requests = {uid: ledger.pods[uid].request for uid in ledger.pods}
    at_once = ledger.nodes.free.most_on_node("KK") >= 4
    behind = ledger.catalog.resource("KK"), ledger.counts(HCU), ledger.catalog.cards_of(DCU)
    misplaced = set(ledger.misplaced)
    return state_of(ledger), problems, requests, at_once, behind, misplaced, releases(ledger)


ON_FIRST = a_pod("on-first").in_queue("red").asking_for(1, DCU).on_node("zz-1")
ON_SECOND = a_pod("on-second").in_queue("red").asking_for(4, HCU).on_node("aa-1")
WAITS = a_pod("waits").in_queue("red").naming("KK").asking_for(2, DCU).gated()


@pytest.mark.parametrize(
    ("pods", "sums"),
    [
        ((ON_FIRST, ON_SECOND), Totals(requested=1, allocated=1)),
        ((ON_SECOND, WAITS), Totals(requested=2)),
    ],
)
def test_d7_what_a_queues_status_recorded_decides_between_nodes_whichever_is_read_first(
    pods: tuple[Body, ...], sums: Totals
) -> None:
    """The first stays, over a restart too, which lists nodes by name."""
    things: tuple[Body, ...] = (FIRST, SECOND, RECORDED, *pods)
    expected = all_that_is_told(a_ledger_of(*things))
    for order in permutations(things):
        ledger = a_ledger_of(*order)
        assert ledger.catalog.resource("KK") == DCU
        assert ledger.nodes.total("KK") == 8
        ((node, problem),) = ledger.nodes.problems
        assert (node, problem) == (
            "aa-1",
            f"card <KK> is counted as {DCU} on other nodes, but as {HCU} here",
        )
        assert totals(ledger) == {("red", "KK"): sums}
        assert all_that_is_told(ledger) == expected


def test_d7_pods_that_we_released_are_compared_with_what_counts_in_every_order() -> None:
    """E3: of a node that is reported the cards are none."""
    stamped = a_pod("p").asking_for(2, DCU).stamped("red", {H200: 2}).on_node("zz-1")
    other = a_pod("q").asking_for(2, HCU).stamped("red", {H200: 2}).on_node("aa-1")
    for order in permutations((FIRST, SECOND, RECORDED, stamped, other)):
        ledger = a_ledger_of(*order)
        assert totals(ledger) == {
            ("red", "KK"): Totals(requested=2, allocated=2),
            ("red", H200): Totals(requested=2, allocated=2),
        }
        assert ledger.misplaced == {stamped.uid}


def test_d7_live_the_first_stays() -> None:
    """Once the status says what is counted, it does not matter what it said before."""
    ledger = a_ledger_of(RECORDED, SECOND)
    see(ledger, a_queue("red").with_quota({"KK": 3}).having_reported("KK", 3, HCU).at_revision(2))
    see(ledger, FIRST, RECORDED)
    assert ledger.catalog.resource("KK") == HCU
    assert [node for node, _ in ledger.nodes.problems] == ["zz-1"]


def test_d7_when_another_node_counts_it_is_told_and_those_who_wait_are_tried_again() -> None:
    waits = a_pod("p").in_queue("red").naming("KK").asking_for(1, DCU).gated()
    ledger = a_ledger_of(a_queue("red").with_quota({"KK": 3}), SECOND, FIRST, waits)
    assert [facts.name for facts, *_ in iter(ledger.nodes.take_report, None)] == ["zz-1"]
    assert releases(ledger)[0] == []
    ledger.dirty.take_changed()
    ledger.dirty.pending.take()
    see(ledger, RECORDED)
    told_now = {
        facts.name: bool(problems) for facts, problems, _ in iter(ledger.nodes.take_report, None)
    }
    assert told_now == {"zz-1": False, "aa-1": True}
    assert "red" in ledger.dirty.take_changed()
    assert "red" in ledger.dirty.pending.take()
    assert releases(ledger)[0] == [("red", [(waits.uid, (("KK", 1),))], ())]


def test_a_succeeded_pod_that_changes_its_group_is_a_member_of_one_group() -> None:
    ended = a_pod("p").in_group("gang-a").on_node("h200-1").in_phase("Succeeded")
    moved = ended.in_group("gang-b").at_revision(2)
    groups = [ToldEvent(a_group(name).of(2).in_queue("red")) for name in GROUPS]
    assert state_of(told([*groups, ToldEvent(ended), ToldEvent(moved)])) == state_of(
        told([*groups, ToldEvent(moved)])
    )
