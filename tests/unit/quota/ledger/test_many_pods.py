"""I5: what events and questions cost where there are very many pods. Nobody looks at all of them
who asks about few.
"""

from collections.abc import Callable

import pytest

from builders import CARDS, H200, Body, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from cardquota.quota import to_its_end
from cardquota.quota.decisions import is_surplus, judge_create
from cardquota.quota.ledger import Ledger

from ..counting import steps_of
from ..rollouts import deployment, lending, pod, replica_set, running

FEW, MANY = 10, 100


def more_steps(first: Callable[[], object], second: Callable[[], object]) -> int:
    """To look at a pod takes several."""
    steps = steps_of(first)
    return steps_of(second) - steps


def a_rollout(old: int) -> Ledger:
    """Of so many pods, to which an update adds one."""
    queue = a_queue("queue").with_quota({H200: old})
    ledger = a_ledger(*CARDS, a_namespace("team"), lending("1", queue))
    for number in range(old):
        see(ledger, running(f"old-{number}"))
    deployment(ledger, old)
    replica_set(ledger, "web-old", old, str(old))
    replica_set(ledger, "web-new", 1, str(old))
    return ledger


def _may_borrow(ledger: Ledger) -> None:
    assert is_surplus(ledger, pod("new").facts(), "queue", H200, 1)


def _create(ledger: Ledger) -> None:
    assert judge_create(ledger, pod("new").facts()).borrows


def _namespace_event(ledger: Ledger) -> None:
    see(ledger, a_namespace("team").with_default_queue("another"))


def _card_event(ledger: Ledger) -> None:
    see(ledger, a_node("odd").with_cards("odd-card", 1, "example.com/odd"))


def _pods_of_another(ledger: Ledger) -> None:
    each = ledger.made_pods.each
    to_its_end(each("queue", "team", "ReplicaSet", lambda name: name == "web-9", print))


def _numbers(ledger: Ledger) -> None:
    ledger.made_pods.living_by_controller("queue", "team")


@pytest.mark.parametrize(
    "ask", [_may_borrow, _create, _namespace_event, _card_event, _pods_of_another, _numbers]
)
def test_a_deployment_of_many_pods_costs_no_more_than_one_of_few(
    ask: Callable[[Ledger], None],
) -> None:
    few, many = a_rollout(FEW), a_rollout(MANY)
    assert more_steps(lambda: ask(few), lambda: ask(many)) < MANY


def at_many_gates(queues: int) -> Ledger:
    """One pod waits in each of so many queues that lend cards, each in a namespace of its own."""
    ledger = a_ledger(*CARDS)
    for number in range(queues):
        waiting = pod(f"p{number}").in_queue(f"q{number}").in_namespace(f"n{number}").gated()
        see(ledger, lending("1", a_queue(f"q{number}").with_quota({H200: 0})), waiting)
    return ledger


def _other_namespace_event(ledger: Ledger) -> None:
    see(ledger, a_namespace("n1").with_default_queue("another"))


def _wish_of_a_workload(ledger: Ledger) -> None:
    deployment(ledger, 9)


@pytest.mark.parametrize("happen", [_other_namespace_event, _wish_of_a_workload])
def test_what_happens_in_one_namespace_costs_nothing_for_the_queues_of_others(
    happen: Callable[[Ledger], None],
) -> None:
    few, many = at_many_gates(FEW), at_many_gates(MANY)
    assert more_steps(lambda: happen(few), lambda: happen(many)) < MANY


def test_r6_the_wish_of_a_workload_is_news_to_each_queue_in_which_pods_of_its_wait() -> None:
    """They may borrow now. To queues of other namespaces it is none."""
    ledger = a_ledger(*CARDS)
    for name, namespace in (("red", "team"), ("blue", "team"), ("green", "other")):
        waiting = pod(name).in_queue(name).in_namespace(namespace).gated()
        see(ledger, lending("1", a_queue(name).with_quota({H200: 0})), waiting)
    ledger.dirty.pending.take()
    deployment(ledger, 3)
    assert set(ledger.dirty.pending.take()) == set()
    replica_set(ledger, "web-new", 1)
    assert set(ledger.dirty.pending.take()) == {"red", "blue"}


def on_one_node(pods: int, *nodes: Body) -> Ledger:
    """So many pods hold card memory of a node, which may not be there."""
    return a_ledger(*nodes, *(a_pod(f"p{number}").on_card("n", 0, 1) for number in range(pods)))


@pytest.mark.parametrize("nodes", [[], [a_node("n").sharing_memory(400, 4)]], ids=["ghost", "node"])
def test_a_pod_by_memory_costs_nothing_for_the_others_of_its_node(nodes: list[Body]) -> None:
    """Anybody may write any number of pods with the name of one node."""
    few, many = on_one_node(FEW, *nodes), on_one_node(MANY, *nodes)
    new = a_pod("new").on_card("n", "unreadable", 1)
    come = more_steps(lambda: see(few, new), lambda: see(many, new))
    go = more_steps(lambda: few.pod_gone(new.uid), lambda: many.pod_gone(new.uid))
    assert max(come, go) < MANY
