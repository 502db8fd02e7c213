"""P3, P5: what a pod's node selector and required affinity say about cards."""

from hypothesis import given
from hypothesis import strategies as st

from builders import GPU, H200, H800, a_pod
from builders.pod import PodBody
from cardquota.quota.cards import Card, MemoryLabel, MemoryUnit
from cardquota.quota.objects import Expression, Term
from cardquota.quota.selectors import Selector, decode, encode

PRODUCT = f"{GPU}.product"
REPLICAS = f"{GPU}.replicas"
CARD_H200 = Card(H200, GPU, ((PRODUCT, H200),))
CARD_H800 = Card(H800, GPU, ((PRODUCT, H800),))


def of(pod: PodBody) -> Selector:
    return Selector.of(pod.wire().spec)


def test_p3_values_and_keys_are_told_in_the_users_order() -> None:
    pod = a_pod().on_nodes_labelled({PRODUCT: H800})
    pod = pod.requiring(
        [(PRODUCT, "In", [H200, H800]), (PRODUCT, "NotIn", ["A100"])], [("zone", "Exists", [])]
    )
    assert of(pod).values(PRODUCT) == (H800, H200)
    assert of(pod).values("zone") == ()
    assert of(pod).keys() == {PRODUCT, "zone"}


STRATEGY = f"{GPU}.sharing-strategy"
MPS = Card("mps", f"{GPU}.shared", ((PRODUCT, H800),), barred=((STRATEGY, "time-slicing"),))
SLICED = Card("sliced", f"{GPU}.shared", ((PRODUCT, H800), (STRATEGY, "time-slicing")))


def test_p5_what_a_cards_nodes_must_not_carry_is_asked_for_so() -> None:
    """Reached are also nodes that lack the label."""
    (term,) = of(a_pod()).narrowed([MPS])
    not_sliced = Expression(key=STRATEGY, operator="NotIn", values=("time-slicing",))
    assert term.match_expressions == (in_(PRODUCT, H800), not_sliced)
    (term,) = of(a_pod()).narrowed([SLICED])
    assert term.match_expressions == (in_(PRODUCT, H800), in_(STRATEGY, "time-slicing"))
    (either,) = of(a_pod()).narrowed([MPS, SLICED])
    assert either.match_expressions == (in_(PRODUCT, H800),)


def in_(key: str, *values: str) -> Expression:
    return Expression(key=key, operator="In", values=values)


def test_p5_what_is_asked_for_already_is_not_added_again() -> None:
    selector = of(a_pod().requiring([(PRODUCT, "In", [H200])]))
    assert selector.narrowed([CARD_H200]) == selector.terms


def test_p5_an_empty_term_stays_empty_and_a_term_of_fields_is_narrowed() -> None:
    pod = a_pod().requiring([], [("metadata.name", "In", ["a"])])
    empty, narrowed = of(pod).narrowed([CARD_H200])
    assert empty == Term(match_expressions=())
    assert narrowed.match_expressions == (in_(PRODUCT, H200),)
    assert narrowed.match_fields


MEMORY = f"{GPU}.memory"


BIG = Card("big", f"{GPU}.shared", ((PRODUCT, H800),), MemoryLabel(MEMORY, 80, MemoryUnit.MIB))


SMALL = Card("small", f"{GPU}.shared", ((PRODUCT, H800),), MemoryLabel(MEMORY, 40, MemoryUnit.MIB))


def test_p5_a_share_of_one_size_is_no_share_of_another() -> None:
    (term,) = of(a_pod()).narrowed([BIG])
    assert [one.operator for one in term.match_expressions or ()] == ["In", "Gt", "Lt"]
    only_big = Selector(terms=(term,))
    assert only_big.allowed([BIG, SMALL]) == [BIG]


expressions = st.tuples(
    st.sampled_from((PRODUCT, REPLICAS, "zone")),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
    st.lists(st.sampled_from((H200, H800, "2", "4")), max_size=2),
)
term_lists = st.lists(st.lists(expressions, max_size=3), min_size=1, max_size=3)


@given(term_lists, st.lists(st.sampled_from((CARD_H200, CARD_H800)), min_size=1, unique=True))
def test_p5_narrowing_only_adds_to_the_terms_that_are_there(
    terms: list[list[tuple[str, str, list[str]]]], cards: list[Card]
) -> None:
    """Kubernetes allows nothing else on a gated pod: the old terms stay as a prefix."""
    selector = of(a_pod().requiring(*terms))
    narrowed = selector.narrowed(cards)
    assert selector.terms is not None
    assert len(narrowed) == len(selector.terms)
    for old, new in zip(selector.terms, narrowed, strict=True):
        before, after = old.match_expressions or (), new.match_expressions or ()
        assert after[: len(before)] == before
    after_all = Selector(selector.labels, narrowed)
    for card in (CARD_H200, CARD_H800):
        assert after_all.allowed([card]) == [
            one for one in selector.allowed([card]) if one in cards
        ]


@given(term_lists, st.dictionaries(st.text(max_size=5), st.text(max_size=5)))
def test_what_is_kept_is_read_back(
    terms: list[list[tuple[str, str, list[str]]]], labels: dict[str, str]
) -> None:
    selector = of(a_pod().requiring(*terms).on_nodes_labelled(labels))
    assert decode(encode(selector)) == selector


def test_p3_an_empty_term_names_no_node() -> None:
    """So beside one that names a node, that node alone can be selected."""
    named = Term(match_expressions=(in_("kubernetes.io/hostname", "node-1"),))
    node = ("kubernetes.io/hostname", "node-1")
    assert Selector(terms=(Term(), named)).places() == frozenset({node})
    assert Selector(terms=(Term(),)).places() == frozenset()
