"""P3: a pod that names no card, pinned by other labels than its card's or to single nodes."""

from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import GPU, H200, H800, a_ledger, a_node, a_pod, a_queue, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota.cards import Catalog
from cardquota.quota.ledger import Ledger
from cardquota.quota.nodes import NodeCache
from cardquota.quota.selectors import HOST_NAME, Selector

from ...steps import steps_of
from ..asked_node import selects

PRODUCT = f"{GPU}.product"
QUEUE = a_queue("red").with_quota({H200: 4, H800: 2})
BIG = a_node("big").with_cards(H200, 8).labelled("pool", "h200").labelled(HOST_NAME, "host-big")
SMALL = a_node("small").with_cards(H800, 8).labelled("pool", "h800").labelled(HOST_NAME, "small")
STOCK = a_pod("p").in_queue("red").asking_for(1)


def cards_of(ledger: Ledger, pod: PodBody) -> tuple[str, ...]:
    return ledger.request_of(pod.facts(), "red").cards


@pytest.mark.parametrize(
    "pinned",
    [STOCK.made_for("new"), STOCK.made_for("cpu"), STOCK.on_nodes_labelled({HOST_NAME: "new"})],
)
def test_p3_a_pod_that_names_nodes_without_cards_gets_none_of_others(pinned: PodBody) -> None:
    """It would hold quota of a card that it can never run on."""
    assert cards_of(a_ledger(BIG, SMALL, a_node("cpu"), QUEUE), pinned) == ()


def test_d8_a_node_whose_device_plugin_restarts_still_has_its_card() -> None:
    bare = SMALL.without_allocatable().labelled(PRODUCT, None).labelled(f"{GPU}.memory", None)
    ledger = a_ledger(BIG, SMALL, QUEUE)
    see(ledger, bare)
    for pinned in (
        STOCK.on_nodes_labelled({"pool": "h800"}),
        STOCK.on_nodes_labelled({"pool": "h800", PRODUCT: H800}),
        STOCK.made_for("small"),
    ):
        assert cards_of(ledger, pinned) == (H800,)
    ledger.node_gone("small")
    assert cards_of(ledger, STOCK.made_for("small")) == ()


# --- who has to be read anew ------------------------------------------------------------------


def a_cache(*nodes: NodeBody) -> NodeCache:
    cache = NodeCache(Catalog())
    for node in nodes:
        cache.see(node.facts())
    return cache


def told(cache: NodeCache) -> list[str]:
    """Whom the events until now concern."""
    cache.selection.go_on()
    return cache.selection.take_moved()


# --- the same as asking every node ------------------------------------------------------------

_LABELS = st.fixed_dictionaries(
    {},
    optional={
        "pool": st.sampled_from(("a", "b")),
        "rank": st.sampled_from(("1", "2", "x")),
        HOST_NAME: st.sampled_from(("n0", "n1", "h")),
    },
)
_NODES = st.lists(
    st.tuples(st.sampled_from(("n0", "n1", "n2")), st.sampled_from((H200, H800, "")), _LABELS),
    max_size=8,
)
_EXPRESSIONS = st.tuples(
    st.sampled_from(("pool", "rank", HOST_NAME, PRODUCT, "metadata.name")),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")),
    st.lists(st.sampled_from(("a", "b", "1", "n0", "n1", "h", H200)), max_size=2),
)
_SELECTORS = st.lists(st.lists(_EXPRESSIONS, max_size=2), min_size=1, max_size=2)


def node_of(name: str, card: str, labels: dict[str, str]) -> NodeBody:
    node = a_node(name).with_cards(card, 8) if card else a_node(name).with_uid("bare")
    for key, value in labels.items():
        node = node.labelled(key, value)
    return node


def asked_one_by_one(pod: PodBody, nodes: dict[str, NodeBody]) -> Iterator[str]:
    selector = Selector.of(pod.wire().spec)
    for name, node in nodes.items():
        labels = node.body["metadata"].get("labels", {})
        if PRODUCT in labels and selects(selector, name, labels):
            yield labels[PRODUCT]


@given(_NODES, _SELECTORS)
def test_standing_answers_are_those_of_asking_every_node(
    nodes: list[tuple[str, str, dict[str, str]]], terms: list[list[tuple[str, str, list[str]]]]
) -> None:
    standing, pod, there = a_cache(), STOCK.requiring(*terms), dict[str, NodeBody]()
    standing.register_pod(pod.facts())
    before: set[str] = set()
    for name, card, labels in nodes:
        node = node_of(name, card, labels)
        there[name] = node
        standing.see(node.facts())
        picked = set(asked_one_by_one(pod, there))
        moved = told(standing)
        if pod.facts().selector and not Selector.of(pod.wire().spec).keys_of_nodes() <= {PRODUCT}:
            assert set(standing.picked(pod.facts().selector)) == picked
            assert moved == (["uid-p"] if picked != before else [])
            fresh = a_cache(*there.values())
            assert set(fresh.picked(pod.facts().selector)) == picked
        before = picked


# --- what it costs ----------------------------------------------------------------------------


def zoned(number: int) -> NodeBody:
    node = a_node(f"n{number}").with_cards(H200, 8).labelled("zone", f"z{number % 3}")
    return node.labelled(HOST_NAME, f"n{number}")


def test_p8_an_event_about_a_node_does_not_cost_what_waits() -> None:
    """However many different selectors stand: some answers at once, the others in steps."""
    few, many = a_cache(*map(zoned, range(200))), a_cache(*map(zoned, range(200)))
    pods = [
        STOCK.requiring([("zone", "NotIn", [f"{i}"]), ("pool", "Exists", [])]).with_uid(f"p{i}")
        for i in range(1_000)
    ]
    for cache, waiting in ((few, pods[:100]), (many, pods)):
        for pod in waiting:
            cache.register_pod(pod.facts())
    event = zoned(7).labelled("pool", "new").facts()
    costs = [steps_of(partial(cache.see, event)) for cache in (few, many)]
    assert costs[1] < 2 * costs[0]
    found, turns = many.selection.take_moved(), 0
    while many.selection.more:
        many.selection.go_on()
        found += many.selection.take_moved()
        turns += 1
    assert sorted(found) == sorted(pod.uid for pod in pods)
    assert 5 < turns < 50


def test_p8_who_names_single_nodes_is_answered_from_those() -> None:
    few, many = (a_cache(*map(zoned, range(size))) for size in (20, 2_000))
    named = STOCK.made_for("n7").facts().selector
    assert few.named_by(named)
    costs = [steps_of(partial(cache.picked, named)) for cache in (few, many)]
    assert costs[0] == costs[1]


def test_p8_an_event_about_a_node_asks_nobody_who_names_others() -> None:
    """As the pods of DaemonSets do; one that names very many is asked again all the same."""
    cache = a_cache(*map(zoned, range(400)))
    for i in range(400):
        cache.register_pod(STOCK.made_for(f"n{i}").with_uid(f"p{i}").facts())
    cache.register_pod(STOCK.made_for(*(f"n{i}" for i in range(100, 200))).with_uid("many").facts())
    cache.see(zoned(7).without_allocatable().labelled("driver", "2").facts())
    assert told(cache) == []
    for i in range(100, 200):
        cache.drop(f"n{i}")
    assert told(cache) == sorted(["many", *(f"p{i}" for i in range(100, 200))])


def test_p8_whoever_asks_gets_the_answer_of_now_while_others_are_worked_out() -> None:
    cache = a_cache(BIG)
    for i in range(1_000):
        cache.register_pod(
            STOCK.on_nodes_labelled({"pool": "new", f"x{i}": "y"}).with_uid(f"p{i}").facts()
        )
    last = STOCK.on_nodes_labelled({"pool": "new"}).with_uid("last")
    cache.register_pod(last.facts())
    cache.see(a_node("n").with_cards(H800, 8).labelled("pool", "new").facts())
    assert cache.selection.more
    assert set(cache.picked(last.facts().selector)) == {H800}
