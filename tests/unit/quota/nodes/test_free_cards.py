"""E7: of several cards with quota, the first that a node has free at once."""

import pytest

from builders import H200, H800, Body, a_ledger, a_node, a_pod, a_queue, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.selectors import PodToleration, Tolerance

from ...containers import containers
from ..releasing import cards_of, release

QUEUE = a_queue("red").with_quota({H200: 8, H800: 8})
ANYBODY = Tolerance((PodToleration("", "Exists", "", ""),))
EITHER = f"{H200}|{H800}"


def h200(name: str = "h200-1", cards: int = 2) -> NodeBody:
    return a_node(name).with_cards(H200, cards)


def h800(name: str = "h800-1", cards: int = 2) -> NodeBody:
    return a_node(name).with_cards(H800, cards)


def waiting(name: str, cards: int = 1, names: str = EITHER) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards).gated()


def on(node: str, cards: int, name: str = "holder") -> PodBody:
    """Somebody's pod, of no queue: its cards are taken all the same."""
    return a_pod(name).asking_for(cards).on_node(node)


def goes_to(*things: Body) -> list[dict[str, int]]:
    """The cards of `p` when it is released."""
    return cards_of(opened(*things), "p")


def opened(*things: Body) -> Ledger:
    ledger = a_ledger(QUEUE, *things)
    assert ["p"] in release(ledger)[0]
    return ledger


@pytest.mark.parametrize(
    "node",
    [
        h200().put(True, "spec", "unschedulable"),
        h200().put([{"type": "Ready", "status": "False"}], "status", "conditions"),
        h200().put([{"type": "Ready", "status": "Unknown"}], "status", "conditions"),
        a_node("h200-1").showing(H200),
    ],
    ids=["cordoned", "not ready", "not heard of", "without its plugin"],
)
def test_e7_a_node_that_takes_no_pods_has_nothing_free(node: NodeBody) -> None:
    assert goes_to(h200(), h800(), node.at_revision(2), waiting("p")) == [{H800: 1}]
    assert goes_to(h200(), h800(), node.at_revision(2), h200().at_revision(3), waiting("p")) == [
        {H200: 1}
    ]


def test_e7_those_on_their_way_are_counted_before_they_have_a_node() -> None:
    """Opened at once, bound some time later: three cards are two on one node, then the other."""
    ledger = a_ledger(QUEUE, h200(), h800(), *(waiting(f"p{n}") for n in range(4)))
    release(ledger)
    assert cards_of(ledger, "p0", "p1", "p2", "p3") == [{H200: 1}] * 2 + [{H800: 1}] * 2
    see(ledger, waiting("p0").stamped("red", {H200: 1}).on_node("h200-1").at_revision(2))
    ledger.pod_gone("uid-p1")
    see(ledger, waiting("p4"), waiting("p5"))
    release(ledger)
    assert cards_of(ledger, "p4", "p5") == [{H200: 1}, {H200: 1}]  # then no node has any


def test_e7_a_pod_that_picks_its_nodes_has_those_alone() -> None:
    zone = "topology.kubernetes.io/zone"
    nodes = (
        h200().labelled(zone, "a"),
        h800().labelled(zone, "b"),
        h800("h800-2").labelled(zone, "a"),
    )
    near = waiting("p").on_nodes_labelled({zone: "b"})
    assert goes_to(*nodes, near) == [{H800: 1}]
    both = waiting("p").on_nodes_labelled({zone: "a"})
    assert goes_to(*nodes, both) == [{H200: 1}]
    named = waiting("p").on_nodes_labelled({"kubernetes.io/hostname": "h800-1"})
    hosts = (node.labelled("kubernetes.io/hostname", node.name) for node in nodes)
    assert goes_to(*hosts, named) == [{H800: 1}]


TAINT = {"key": "team", "value": "blue", "effect": "NoSchedule"}


def tainted(node: NodeBody, *taints: dict[str, str]) -> NodeBody:
    return node.put(list(taints or (TAINT,)), "spec", "taints")


def tolerating(pod: PodBody, **toleration: str) -> PodBody:
    return pod.with_spec(tolerations=[{"operator": "Exists", **toleration}])


def test_e7_a_node_whose_taints_the_pod_does_not_tolerate_has_nothing_for_it() -> None:
    nodes = tainted(h200()), h800()
    assert goes_to(*nodes, waiting("p")) == [{H800: 1}]
    assert goes_to(*nodes, tolerating(waiting("p"), key="else")) == [{H800: 1}]
    assert goes_to(*nodes, tolerating(waiting("p"), key="team")) == [{H200: 1}]
    wish = {"key": "team", "effect": "PreferNoSchedule"}
    assert goes_to(tainted(h200(), wish), h800(), waiting("p")) == [{H200: 1}]


def test_e7_a_taint_that_comes_or_goes_counts_from_then_on() -> None:
    ledger = a_ledger(QUEUE, tainted(h200()), h800(), waiting("p"))
    release(ledger)
    see(ledger, h200().at_revision(2), waiting("q"))
    release(ledger)
    see(ledger, tainted(h200()).at_revision(3), waiting("r"))
    release(ledger)
    assert cards_of(ledger, "p", "q", "r") == [{H800: 1}, {H200: 1}, {H800: 1}]
    ledger.node_gone("h200-1")
    ledger.node_gone("h800-1")
    free = ledger.nodes.free
    assert free.by_taints(H200) == free.by_taints(H800) == {}
    assert free.comparisons(ANYBODY) == 0


def test_e7_a_label_that_only_looks_like_a_cards_picks_nodes_as_any_other() -> None:
    pool = "example.com/pool.product"
    nodes = h200().labelled(pool, "x"), h800().labelled(pool, "y")
    assert goes_to(*nodes, waiting("p").on_nodes_labelled({pool: "y"})) == [{H800: 1}]
    unnamed = a_pod("p").in_queue("red").asking_for(1).gated().on_nodes_labelled({pool: "y"})
    assert goes_to(*nodes, unnamed) == [{H800: 1}]


def test_nothing_is_left_of_what_is_gone() -> None:
    ledger = opened(h200(), h800(), on("h200-1", 1), waiting("p"))
    for uid in ("uid-p", "uid-holder"):
        ledger.pod_gone(uid)
    for node in ("h200-1", "h800-1"):
        ledger.node_gone(node)
    assert not any(containers(ledger.nodes.free).values())
    assert ledger.nodes.free.comparisons(ANYBODY) == 0
