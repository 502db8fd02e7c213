"""Nodes are found by their labels as if each were asked (P3), at no cost of each (P8)."""

from collections.abc import Mapping
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import a_pod
from cardquota.quota.selectors.label_index import LabelIndex
from cardquota.quota.selectors.selector import NODE_NAME, Selector

from ...steps import steps_of

NODES: Mapping[str, Mapping[str, str]] = {
    "n0": {"zone": "a", "rank": "1"},
    "n1": {"zone": "b", "rank": "20"},
    "n2": {"zone": "b", "rank": "x"},
    "n3": {},
}


def an_index() -> LabelIndex:
    index = LabelIndex()
    for place, (name, labels) in enumerate(NODES.items()):
        index.add(1 << place, name, labels)
    return index


def selector(*terms: list[tuple[str, str, list[str]]]) -> Selector:
    found = []
    for term in terms:
        entries = [{"key": k, "operator": o, "values": v} for k, o, v in term]
        fields = [entry for entry in entries if entry["key"] == NODE_NAME]
        found.append(
            {"matchFields": fields, "matchExpressions": [e for e in entries if e not in fields]}
        )
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": found}}
    return Selector.of(a_pod().with_spec(affinity={"nodeAffinity": required}).wire().spec)


def names(index: LabelIndex, wanted: Selector) -> list[str]:
    bits = index.selected(wanted)
    return [name for place, name in enumerate(NODES) if bits & (1 << place)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (selector([("zone", "In", ["b", "c"])]), ["n1", "n2"]),
        (selector([("zone", "NotIn", ["b"])]), ["n0", "n3"]),
        (selector([("rank", "Exists", [])]), ["n0", "n1", "n2"]),
        (selector([("rank", "DoesNotExist", [])]), ["n3"]),
        (selector([("rank", "Gt", ["1"])]), ["n1"]),
        (selector([("rank", "Gt", ["0"])]), ["n0", "n1"]),
        (selector([("rank", "Lt", ["20"])]), ["n0"]),
        (selector([("rank", "Lt", ["1"])]), []),
        (selector([("rank", "Gt", ["many"])]), []),
        (selector([("rank", "Gt", [])]), []),
        (selector([("rank", "Gt", ["1", "0"])]), []),
        (selector([("other", "Gt", ["0"])]), []),
        (selector([("zone", "Later", [])]), ["n0", "n1", "n2", "n3"]),
        (selector([("zone", "In", ["b"]), ("rank", "Gt", ["5"])]), ["n1"]),
        (selector([("zone", "In", ["a"])], [("rank", "In", ["x"])]), ["n0", "n2"]),
        (selector([]), []),
        (selector([], [("zone", "In", ["a"])]), ["n0"]),
        (selector(), []),
        (selector([(NODE_NAME, "In", ["n2", "gone"])]), ["n2"]),
        (selector([(NODE_NAME, "NotIn", ["n2"]), ("zone", "In", ["b"])]), ["n1"]),
        (selector([(NODE_NAME, "Gt", ["0"])]), []),
        (Selector(), ["n0", "n1", "n2", "n3"]),
        (Selector(labels=(("rank", "1"), ("zone", "a"))), ["n0"]),
        (Selector(labels=(("rank", "1"), ("zone", "b"))), []),
        (Selector(labels=(("none", ""),)), []),
    ],
)
def test_the_nodes_that_are_picked(wanted: Selector, found: list[str]) -> None:
    assert names(an_index(), wanted) == found
    if not any(term.match_fields for term in wanted.terms or ()):
        asked = [name for name, labels in NODES.items() if wanted.selects(name, labels.get)]
        assert asked == found


def test_numbers_are_put_in_order_anew_when_a_label_changes() -> None:
    index, above = an_index(), selector([("rank", "Gt", ["10"])])
    assert names(index, above) == ["n1"]
    index.relabel(1, {"rank": "1"}, {"rank": "11"})
    assert names(index, above) == ["n0", "n1"]
    index.discard(2, "n1", NODES["n1"])
    assert names(index, above) == ["n0"]


_VALUES = st.sampled_from(("1", "2", "-3", "007", "+5", "x", "", " 1", str(2**63), "1_0", "٣"))
_LABELS = st.fixed_dictionaries({"a": _VALUES}, optional={"b": _VALUES})
_ASKED = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(("Gt", "Lt", "In", "NotIn", "Exists", "DoesNotExist", "Later")),
    st.lists(_VALUES, max_size=2),
)


@given(
    st.lists(_LABELS, min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), _LABELS), max_size=4),
    st.lists(
        st.lists(st.lists(_ASKED, min_size=1, max_size=2), min_size=1, max_size=2), min_size=1
    ),
)
def test_nodes_are_picked_as_if_each_were_asked(
    nodes: list[dict[str, str]],
    changes: list[tuple[int, dict[str, str]]],
    asked: list[list[list[tuple[str, str, list[str]]]]],
) -> None:
    index, wanted = LabelIndex(), [selector(*terms) for terms in asked]
    for place, labels in enumerate(nodes):
        index.add(1 << place, f"n{place}", labels)
    for number, labels in [(0, nodes[0]), *changes]:
        place = number % len(nodes)
        index.relabel(1 << place, nodes[place], labels)
        nodes[place] = labels
        for one in wanted:
            found = [n for n in range(len(nodes)) if index.selected(one) & (1 << n)]
            assert found == [
                n for n, labels in enumerate(nodes) if one.selects(f"n{n}", labels.get)
            ]


def test_p8_a_label_that_no_node_has_takes_nobodys_place() -> None:
    """As many of them as one pod may compare would push out what all others are compared with."""
    index = LabelIndex()
    for place in range(2_000):
        index.add(1 << place, f"n{place}", {"rank": f"{place}"})
    one = selector([("rank", "Gt", ["1998"])])
    assert index.selected(one) == 1 << 1_999
    none = selector(*[[(f"none{number}", "Gt", ["1"])] for number in range(15)])
    assert steps_of(partial(index.selected, none)) < 200
    assert steps_of(partial(index.selected, one)) < 200
