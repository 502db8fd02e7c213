"""Nodes are picked by their labels as if each were asked (P3)."""

from hypothesis import given
from hypothesis import strategies as st

from builders import a_pod
from cardquota.quota.selectors import LabelledNode, Selector, picked

from ..asked_node import selects


def selector(*terms: list[tuple[str, str, list[str]]]) -> Selector:
    return Selector.of(a_pod().requiring(*terms).wire().spec)


_VALUES = st.sampled_from(("1", "2", "-3", "007", "+5", "x", "", " 1", str(2**63), "1_0", "٣"))
_LABELS = st.fixed_dictionaries({"a": _VALUES}, optional={"b": _VALUES})
_ASKED = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(("Gt", "Lt", "In", "NotIn", "Exists", "DoesNotExist", "Later")),
    st.lists(_VALUES, max_size=2),
)


@given(
    st.lists(_LABELS, min_size=1, max_size=6),
    st.lists(st.lists(_ASKED, min_size=1, max_size=2), min_size=1, max_size=2),
)
def test_nodes_are_picked_as_if_each_were_asked(
    nodes: list[dict[str, str]], terms: list[list[tuple[str, str, list[str]]]]
) -> None:
    wanted = selector(*terms)
    found = picked(wanted, [LabelledNode(f"n{n}", labels) for n, labels in enumerate(nodes)])
    assert {node.name for node in found} == {
        f"n{n}" for n, labels in enumerate(nodes) if selects(wanted, f"n{n}", labels)
    }
