"""D1-D5, D9: which cards a node has."""

from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import GPU, H200, H800, SHARED, a_node
from builders.node import NodeBody
from cardquota.quota.cards import DEFAULT_TABLE, VendorTable, discover, vendor_behind
from cardquota.quota.selectors import Selector


@pytest.mark.parametrize("strategy", [None, "mps", "none"])
def test_d3_whatever_is_no_time_slice_is_one_mps_share(strategy: str | None) -> None:
    """One card of one definition, whichever node is seen first: also where the label lacks."""
    node = a_node().sharing(H800, 8, "81559").labelled(f"{GPU}.sharing-strategy", strategy)
    ((card, _),) = node.facts().cards
    ((usual, _),) = a_node().sharing(H800, 8, "81559").facts().cards
    assert card == usual
    assert card.name == f"{H800}/mps-80g*1/2"


def test_q4_cpu_is_no_cards_product() -> None:
    facts = a_node().with_cards("cpu", 8).facts()
    assert (facts.cards, len(facts.problems)) == ((), 1)


def test_p5_a_cards_name_alone_says_the_labels_that_its_nodes_show() -> None:
    """So a gate opens to the same nodes before the first of them is seen, and after."""
    sliced = a_node().sharing(H800, 8, "81559").labelled(f"{GPU}.sharing-strategy", "time-slicing")
    for node in (sliced, a_node().sharing(H800, 8, "81559").offering(2).with_slices("1g.18gb", 1)):
        for card, _ in node.facts().cards:
            assert vendor_behind(card.resource).card(card.name, card.resource) == card


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (a_node().sharing(H800, 8, "143771 MiB"), "not a number above zero"),
        (a_node().sharing(H800, 8, ""), "not a number above zero"),
        (a_node().sharing(H800, 8, "-1"), "not a number above zero"),
        (a_node().sharing(H800, 8, "1٣"), "not a number above zero"),
        (a_node().sharing(H800, 8, "9" * 5_000), "not a number above zero"),
        (a_node().sharing(H800, 8, "81559", replicas="0"), "not a number above one"),
        (a_node().sharing(H800, 8, "81559", replicas="1"), "not a number above one"),
        (a_node().sharing(H800, 8, "81559", replicas="two"), "not a number above one"),
        (
            a_node().sharing(H800, 8, "81559").labelled(f"{GPU}.replicas", None),
            "replicas is missing",
        ),
        (
            a_node().sharing(H800, 8, "81559").labelled("nvidia.com/mig-1g.10gb.replicas", "4"),
            "nvidia.com/gpu.shared also counts shares of slices",
        ),
        (a_node().with_cards("A100-MIG-INVALID", 8), "slices are wrong"),
        (
            a_node().showing(H200).with_slices("1g.18gb.shared", 8),
            "label nvidia.com/mig-1g.18gb.replicas is missing",
        ),
        (a_node().showing("").offering(8), "empty"),
        (a_node().showing("A|B").offering(8), "choice of cards"),
        (a_node().with_cards(H200, "eight"), "not a quantity"),
        (a_node().with_cards(H200, "7500m"), "not a whole number"),
        (a_node().with_cards(H200, "-1"), "negative"),
        (a_node().with_cards(H200, "1e30"), "more than can be counted"),
    ],
)
def test_d9_bad_labels_are_reported_and_not_counted(node: NodeBody, why: str) -> None:
    facts = node.facts()
    assert facts.cards == ()
    assert len(facts.problems) == 1
    assert why in facts.problems[0]
    assert len(facts.problems[0]) < 300


@pytest.mark.parametrize(("types", "whose"), [(("gpu", "npu"), "gpu"), (("xpu", "npu"), "")])
def test_d4_slices_of_several_products_of_a_prefix_belong_to_its_type_gpu(
    types: tuple[str, str], whose: str
) -> None:
    labels = {f"new.example/{kind}.product": kind for kind in types}
    offered = {f"new.example/{kind}": 1 for kind in (*types, "mig-1g")}
    found = {card.name for card, _ in discover(labels, offered, DEFAULT_TABLE).cards}
    assert found == {*types, *([f"{whose}/mig-1g-mixed"] if whose else [])}


PARTITION = "amd.com/compute-memory-partition"


@pytest.mark.parametrize("value", [None, "spx_nps1"])
def test_d6_a_card_that_is_not_divided_is_not_looked_for_on_nodes_that_divide_theirs(
    value: str | None,
) -> None:
    labels = {"amd.com/gpu.product-name": "MI300X"} | ({PARTITION: value} if value else {})
    ((card, amount),) = discover(labels, {"amd.com/gpu": 8}, DEFAULT_TABLE).cards
    assert (card.name, amount) == ("MI300X", 8)
    assert (PARTITION, "cpx_nps4") in card.barred
    assert not Selector(labels=((PARTITION, "cpx_nps4"),)).allowed([card])
    assert Selector(labels=((PARTITION, "spx_nps1"),)).allowed([card])
    amd = DEFAULT_TABLE.owner("amd.com/gpu")
    assert amd is not None
    assert amd.card("MI300X", "amd.com/gpu") == card


@pytest.mark.parametrize(
    ("label", "resource"),
    [
        ("x{}.example/gpu.product", "y{}.example/gpu"),
        ("nvidia.com/g{}.product", "nvidia.com/mig-{}g"),
        ("nvidia.com/g{}.product", "nvidia.com/h{}"),
        ("cambricon.com/mlu{}.product", "cambricon.com/x{}"),
    ],
)
def test_i5_a_node_of_many_labels_and_resources_costs_by_their_sum(
    label: str, resource: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, many = VendorTable(), 300
    owner = Mock(side_effect=table.owner)
    monkeypatch.setattr(table, "owner", owner)
    labels = {label.format(n): "X" for n in range(many)}
    allocatable = {resource.format(n): 1 for n in range(many)}
    assert discover(labels, allocatable, table).cards == ()
    assert owner.call_count <= 4 * many


def test_d9_of_very_many_problems_the_first_are_named_and_the_others_counted() -> None:
    """An event of a node is for people to read."""
    node = a_node().showing(H200)
    for n in range(50):
        node = node.with_slices(f"{n:02}g.5gb", -1)
    *problems, last = node.facts().problems
    assert [text.partition(":")[0] for text in problems] == [
        f"allocatable nvidia.com/mig-{n:02}g.5gb" for n in range(20)
    ]
    assert last == "and 30 more"


texts = st.text(max_size=20)


@given(
    st.dictionaries(
        st.sampled_from(
            [f"{GPU}.{x}" for x in ("product", "memory", "replicas", "sharing-strategy")]
            + ["amd.com/gpu.product", "amd.com/gpu.memory"]
        ),
        texts | st.sampled_from((H200, "81559", "2", "0")),
    ),
    st.dictionaries(
        st.sampled_from((GPU, SHARED, "nvidia.com/mig-1g.18gb", "amd.com/gpu")),
        texts | st.integers() | st.floats(),
    ),
)
def test_d9_nothing_crashes(labels: dict[str, str], allocatable: dict[str, int]) -> None:
    found = discover(labels, allocatable, DEFAULT_TABLE)
    assert all(amount >= 0 for _, amount in found.cards)
