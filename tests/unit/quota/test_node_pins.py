"""P3: a pod that names no card, pinned by other labels than its card's or to single nodes."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CARDS, GPU, H200, H800, R4090, SHARED, a_ledger, a_node, a_pod, a_queue, see
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.quota.catalog import Catalog
from cardquota.quota.create_judgement import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.node_book import NodeBook
from cardquota.quota.selector import HOST_NAME, Selector
from cardquota.quota.vocabulary import Reason

PRODUCT = f"{GPU}.product"
QUEUE = a_queue("red").with_quota({H200: 4, H800: 2})
BIG = a_node("big").with_cards(H200, 8).labelled("pool", "h200").labelled(HOST_NAME, "host-big")
SMALL = a_node("small").with_cards(H800, 8).labelled("pool", "h800").labelled(HOST_NAME, "small")
STOCK = a_pod("p").in_queue("red").asking_for(1)


def on_node_named(*names: str) -> PodBody:
    """As the DaemonSet controller pins its pods."""
    fields = [{"key": "metadata.name", "operator": "In", "values": list(names)}]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return STOCK.with_spec(
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    )


def cards_of(ledger: Ledger, pod: PodBody) -> tuple[str, ...]:
    return ledger.request_of(pod.facts(), "red").cards


@pytest.mark.parametrize(
    "pinned",
    [
        STOCK.on_nodes_labelled({"pool": "h800"}),
        STOCK.on_nodes_labelled({HOST_NAME: "small"}),
        STOCK.requiring([("pool", "In", ["h800"])]),
        STOCK.requiring([("pool", "NotIn", ["h200"])]),
        STOCK.requiring([("pool", "In", ["h800"]), (PRODUCT, "Exists", [])]),
        STOCK.requiring([("pool", "In", ["none"])], [(HOST_NAME, "In", ["small", "other"])]),
        STOCK.on_nodes_labelled({"pool": "h800", PRODUCT: H800}),
        on_node_named("small"),
        on_node_named("gone", "small"),
    ],
)
def test_p3_a_pod_that_is_pinned_to_nodes_is_charged_what_those_have(pinned: PodBody) -> None:
    assert cards_of(a_ledger(BIG, SMALL, QUEUE), pinned) == (H800,)


def test_p3_where_nodes_of_several_cards_are_picked_most_quota_comes_first() -> None:
    ledger = a_ledger(BIG, SMALL, a_node("third").with_cards(R4090, 8), QUEUE)
    assert cards_of(ledger, STOCK.requiring([("pool", "Exists", [])])) == (H200, H800)
    assert cards_of(ledger, on_node_named("small", "big")) == (H200, H800)


@pytest.mark.parametrize(
    "pinned",
    [on_node_named("new"), on_node_named("cpu"), STOCK.on_nodes_labelled({HOST_NAME: "new"})],
)
def test_p3_a_pod_that_names_nodes_without_cards_gets_none_of_others(pinned: PodBody) -> None:
    """It would hold quota of a card that it can never run on."""
    assert cards_of(a_ledger(BIG, SMALL, a_node("cpu"), QUEUE), pinned) == ()


def test_p3_where_no_node_with_cards_is_picked_other_labels_say_nothing() -> None:
    """A pool at zero: its nodes will come, and nobody can know yet with which cards."""
    ledger = a_ledger(BIG, SMALL, a_node("cpu"), QUEUE)
    assert cards_of(ledger, STOCK.on_nodes_labelled({"pool": "new"})) == (H200, H800)
    assert cards_of(ledger, STOCK.on_nodes_labelled({"pool": "new", PRODUCT: H800})) == (H800,)


def test_q1_pinned_to_a_card_without_quota_it_is_refused_for_that_card() -> None:
    ledger = a_ledger(BIG, a_node("third").with_cards(R4090, 8).labelled("pool", "x"), QUEUE)
    verdict = judge_create(ledger, STOCK.on_nodes_labelled({"pool": "x"}).facts())
    assert verdict.reason is Reason.CARD_NOT_IN_QUOTA
    assert f"insufficient <{R4090}> quota" in verdict.text


def test_p3_nodes_with_cards_of_another_resource_only_say_nothing() -> None:
    share = a_node("share").sharing(H800, 8, "81559").labelled("pool", "share")
    ledger = a_ledger(BIG, SMALL, share, QUEUE)
    pinned = STOCK.on_nodes_labelled({"pool": "share"})
    assert cards_of(ledger, pinned) == (H200, H800)


def test_d8_a_node_whose_device_plugin_restarts_still_has_its_card() -> None:
    bare = SMALL.without_allocatable().labelled(PRODUCT, None).labelled(f"{GPU}.memory", None)
    ledger = a_ledger(BIG, SMALL, QUEUE)
    see(ledger, bare)
    for pinned in (
        STOCK.on_nodes_labelled({"pool": "h800"}),
        STOCK.on_nodes_labelled({"pool": "h800", PRODUCT: H800}),
        on_node_named("small"),
    ):
        assert cards_of(ledger, pinned) == (H800,)
    ledger.node_gone("small")
    assert cards_of(ledger, on_node_named("small")) == ()


# --- who has to be read anew ------------------------------------------------------------------


def a_book(*nodes: NodeBody) -> NodeBook:
    book = NodeBook(Catalog())
    for node in nodes:
        book.see(node.facts())
    return book


def test_pods_are_told_of_once_when_other_cards_are_picked_for_them() -> None:
    book = a_book(BIG)
    pool, named = STOCK.on_nodes_labelled({"pool": "h800"}), on_node_named("small")
    book.pin(pool.facts())
    book.pin(named.with_uid("named").facts())
    assert book.take_moved() == []
    book.see(SMALL.facts())
    assert book.take_moved() == ["named", "uid-p"]
    assert book.take_moved() == []
    book.see(SMALL.offering(4).facts())
    book.see(a_node("small-2").with_cards(H800, 8).labelled("pool", "h800").facts())
    assert book.take_moved() == []
    book.drop("small")
    assert book.take_moved() == ["named"]
    book.see(a_node("small-2").with_cards(H800, 8).facts())
    assert book.take_moved() == ["uid-p"]


def test_a_pod_that_is_unpinned_is_told_of_no_more() -> None:
    book, facts = a_book(), on_node_named("small").facts()
    book.pin(facts)
    book.unpin(facts)
    book.unpin(facts)
    book.see(SMALL.facts())
    assert book.take_moved() == []


def test_pods_that_depend_on_no_node_are_not_pinned() -> None:
    book = a_book()
    for pod in (
        STOCK,
        STOCK.on_nodes_labelled({PRODUCT: H800}),
        STOCK.on_nodes_labelled({"pool": "h800"}).naming(H800),
        a_pod().on_nodes_labelled({"pool": "h800"}),
        on_node_named("small").on_node("small"),
    ):
        book.pin(pod.facts())
    book.see(SMALL.labelled(PRODUCT, H200).facts())
    assert book.take_moved() == []


def test_questions_that_nobody_waits_on_do_not_pile_up() -> None:
    book = a_book(BIG)
    for i in range(3_000):
        book.picked(STOCK.on_nodes_labelled({"job": f"{i}"}).facts().selector)
        facts = STOCK.on_nodes_labelled({"team": f"{i}"}).facts()
        book.pin(facts)
        book.unpin(facts)
    assert len(book._pins._questions) <= 1_000
    book.see(SMALL.facts())
    assert (book._pins._questions, book._pins._anywhere, book._pins._idle) == ({}, set(), set())


def test_what_is_kept_of_a_node_is_gone_with_it() -> None:
    book = a_book(BIG, SMALL)
    book.drop("big")
    book.see(SMALL.with_uid("new").without_allocatable().labelled(PRODUCT, None).facts())
    assert (book._pins._spots, book._pins._hosts) == ({}, {})


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


def selecting(terms: list[list[tuple[str, str, list[str]]]]) -> PodBody:
    found = []
    for term in terms:
        entries = [{"key": k, "operator": o, "values": v} for k, o, v in term]
        fields = [e for e in entries if e["key"] == "metadata.name"]
        labels = [e for e in entries if e["key"] != "metadata.name"]
        found.append({"matchFields": fields, "matchExpressions": labels})
    required = {"nodeSelectorTerms": found}
    return STOCK.with_spec(
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    )


def node_of(name: str, card: str, labels: dict[str, str]) -> NodeBody:
    node = a_node(name).with_cards(card, 8) if card else a_node(name).with_uid("bare")
    for key, value in labels.items():
        node = node.labelled(key, value)
    return node


def asked_one_by_one(pod: PodBody, nodes: dict[str, NodeBody]) -> Iterator[str]:
    selector = Selector.of(pod.wire().spec)
    for name, node in nodes.items():
        labels = node.body["metadata"].get("labels", {})
        if PRODUCT in labels and selector.selects(name, labels.get):
            yield labels[PRODUCT]


@given(_NODES, _SELECTORS)
def test_standing_answers_are_those_of_asking_every_node(
    nodes: list[tuple[str, str, dict[str, str]]], terms: list[list[tuple[str, str, list[str]]]]
) -> None:
    standing, pod, there = a_book(), selecting(terms), dict[str, NodeBody]()
    standing.pin(pod.facts())
    before: set[str] = set()
    for name, card, labels in nodes:
        node = node_of(name, card, labels)
        there[name] = node
        standing.see(node.facts())
        picked = set(asked_one_by_one(pod, there))
        moved = standing.take_moved()
        if pod.facts().selector and Selector.of(pod.wire().spec).says_more_than({PRODUCT}):
            assert set(standing.picked(pod.facts().selector)) == picked
            assert moved == (["uid-p"] if picked != before else [])
            fresh = a_book(*there.values())
            assert set(fresh.picked(pod.facts().selector)) == picked
        before = picked


def test_a_pod_does_not_cost_a_look_at_every_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of its kind does; what names single nodes looks at those alone."""
    nodes = [a_node(f"n{i}").with_cards(H200, 8).labelled("zone", f"z{i % 3}") for i in range(300)]
    book, looks = a_book(*nodes), 0
    selects = Selector.selects

    def counted(self: Selector, name: str, label: Callable[[str], str | None]) -> bool:
        nonlocal looks
        looks += 1
        return selects(self, name, label)

    monkeypatch.setattr(Selector, "selects", counted)
    for i in range(1_000):
        facts = STOCK.with_uid(f"p{i}").on_nodes_labelled({"zone": "z1"}).facts()
        book.pin(facts)
        assert set(book.picked(facts.selector)) == {H200}
    assert looks == 300
    for i in range(200):
        facts = on_node_named(f"n{i}").with_uid(f"d{i}").facts()
        book.pin(facts)
        assert set(book.picked(facts.selector)) == {H200}
    assert looks == 500
    book.see(nodes[0].labelled("zone", "z1").facts())
    assert looks == 504


def test_shares_are_picked_by_the_labels_of_their_nodes() -> None:
    sliced = (
        a_node("sliced")
        .sharing(H800, 8, "81559")
        .labelled(f"{GPU}.sharing-strategy", "time-slicing")
        .labelled("pool", "sliced")
    )
    mps = a_node("mps").sharing(H800, 8, "81559").labelled("pool", "mps")
    rows = {f"{H800}/shared-80g*1/2": 1, f"{H800}/mps-80g*1/2": 4}
    ledger = a_ledger(*CARDS, sliced, mps, a_queue("red").with_quota(rows))
    pod = a_pod("p").in_queue("red").asking_for(1, SHARED)
    strategy = {f"{GPU}.sharing-strategy": "time-slicing"}
    for pinned in (pod.on_nodes_labelled({"pool": "sliced"}), pod.on_nodes_labelled(strategy)):
        assert cards_of(ledger, pinned) == (f"{H800}/shared-80g*1/2",)
