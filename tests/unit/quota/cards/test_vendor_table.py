"""D6, D9: what the makers' own plugins and labellers write is read as it stands on their nodes."""

import re

import pytest

from builders import a_ledger, a_node, see
from builders.node import NodeBody
from cardquota.quota.cards import DEFAULT_TABLE, Vendor, VendorTable
from cardquota.quota.nodes.node_facts import node_facts

# As the sources named in the table have them: what names a card, and what looks as if it did.
NODES = {
    "NVIDIA": (
        {"nvidia.com/gpu.product": "A100-SXM4-40GB", "nvidia.com/gpu.replicas": "1"},
        {"nvidia.com/gpu": "8", "nvidia.com/hostdev": "4"},
        {"A100-SXM4-40GB": 8},
    ),
    "AMD": (
        {
            "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM",
            "beta.amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM",
            "beta.amd.com/gpu.product-name.AMD_Instinct_MI300X_OAM": "8",
        },
        {"amd.com/gpu": "8"},
        {"AMD_Instinct_MI300X_OAM": 8},
    ),
    "Ascend 910B": (
        {"node.kubernetes.io/npu.chip.name": "910B3", "huawei.com/npu.chip.name": "910B3"},
        {"huawei.com/Ascend910": "8", "huawei.com/npu-core": "0"},
        {"910B3": 8},
    ),
    "Ascend 310P, the newer label alone": (
        {"huawei.com/npu.chip.name": "310P3"},
        {"huawei.com/Ascend310P": "4", "huawei.com/Ascend910": "0"},
        {"310P3": 4},
    ),
    "Hygon DCU": (
        {"hygon.com/dcu": "true", "hygon.com/dcu.name": "K100_AI"},
        {"hygon.com/dcu": "8"},
        {"K100_AI": 8},
    ),
    "Hygon HCU": (
        {"hygon.com/hcu": "true", "hygon.com/hcu.name": "BW1000"},
        {"hygon.com/hcu": "8", "hygon.com/hcu-share-4c-16g": "2"},
        {"BW1000": 8},
    ),
    "MetaX": (
        {"metax-tech.com/gpu.product": "MXC550", "metax-tech.com/gpu.memory": "64GB"},
        {"metax-tech.com/gpu": "8", "metax-tech.com/sgpu": "0", "metax-tech.com/vfio-gpu": "0"},
        {"MXC550": 8},
    ),
    "Enflame, whose label .product is a code name": (
        {"enflame.com/gcu.model": "S60", "enflame.com/gcu.product": "scorpio"},
        {"enflame.com/gcu": "8"},
        {"S60": 8},
    ),
    "Alibaba PPU": (
        {"aliyun.accelerator/xpu_type": "ppu", "aliyun.accelerator/ppu_name": "PPU-ZW810E"},
        {"alibabacloud.com/ppu": "16"},
        {"PPU-ZW810E": 16},
    ),
    "Cambricon": (
        {"Model": "MLU370-X8", "DriverVersion": "v4.20.6"},
        {"cambricon.com/mlu": "8", "cambricon.com/real-mlu-counts": "8"},
        {"MLU370-X8": 8},
    ),
}


def cards(body: NodeBody) -> dict[str, int]:
    return {card.name: amount for card, amount in body.facts().cards}


def node(labels: dict[str, str], allocatable: dict[str, str]) -> NodeBody:
    found = a_node().put(dict(allocatable), "status", "allocatable")
    return found.put(dict(labels), "metadata", "labels")


@pytest.mark.parametrize("name", NODES)
def test_d6_the_cards_of_a_makers_node(name: str) -> None:
    labels, allocatable, cards = NODES[name]
    facts = node(labels, allocatable).facts()
    assert {card.name: amount for card, amount in facts.cards} == cards
    assert facts.problems == ()


@pytest.mark.parametrize("name", NODES)
def test_d6_its_pods_are_known_before_its_nodes_are(name: str) -> None:
    """The expression that the API server is given holds for the same resource names."""
    _, allocatable, cards = NODES[name]
    known = {r for r in allocatable if DEFAULT_TABLE.owner(r) is not None and allocatable[r] != "0"}
    assert {r for r in allocatable if re.search(DEFAULT_TABLE.pattern, r)} >= known
    assert len(known) == len(cards)


@pytest.mark.parametrize(
    ("resource", "why"),
    [
        ("amd.com/cpx_nps4", "a partition"),
        ("huawei.com/Ascend910-16c", "a template of a divided chip"),
        ("huawei.com/npu-core", "a part of a chip"),
        ("hygon.com/dcunum", "what another plugin counts"),
        ("metax-tech.com/sgpu", "a slice"),
        ("cambricon.com/real-mlu-counts", "the same cards once more"),
        ("cambricon.com/mlu370.smlu.vcore", "a part of a card"),
        ("cambricon.com/mlu.share", "a share"),
        ("cambricon.com/mlu-share", "a share"),
        ("cambricon.com/mlu-mem", "memory"),
        ("cambricon.com/mlunum", "what another plugin counts"),
        ("enflame.com/gcu-count", "the same cards once more"),
    ],
)
def test_d2_never_any_resource_of_a_maker(resource: str, why: str) -> None:
    assert DEFAULT_TABLE.owner(resource) is None, why
    assert not re.search(DEFAULT_TABLE.pattern, resource), why


@pytest.mark.parametrize(
    ("labels", "allocatable", "problem"),
    [
        (
            {"amd.com/gpu.product-name.MI210": "2", "amd.com/gpu.product-name.MI250": "2"},
            {"amd.com/gpu": "4"},
            (
                "amd.com/gpu is offered, but no label says of which product "
                "(amd.com/gpu.product-name or amd.com/gpu.product)"
            ),
        ),
        (
            {},
            {"nvidia.com/gpu": "8"},
            (
                "nvidia.com/gpu is offered, but no label says of which product "
                "(nvidia.com/gpu.product)"
            ),
        ),
        (
            {"nvidia.com/gpu.product": "A100-MIG-INVALID", "nvidia.com/gpu.memory": "0"},
            {"nvidia.com/gpu": "0"},
            "label nvidia.com/gpu.product: <A100-MIG-INVALID> says that slices are wrong",
        ),
        (
            {"node.kubernetes.io/npu.chip.name": "910B3"},
            {"huawei.com/Ascend910": "8", "huawei.com/Ascend310P": "1"},
            (
                "the node offers huawei.com/Ascend310P and huawei.com/Ascend910, but its labels "
                "name one product: it is not known which of them that is"
            ),
        ),
        (
            {"amd.com/gpu.product-name": "MI210"},
            {"amd.com/gpu": "many"},
            "allocatable amd.com/gpu: <many> is not a quantity",
        ),
    ],
)
def test_d9_what_is_not_counted_is_said(
    labels: dict[str, str], allocatable: dict[str, str], problem: str
) -> None:
    facts = node(labels, allocatable).facts()
    assert [amount for _, amount in facts.cards if amount] == []
    assert facts.problems == (problem,)


@pytest.mark.parametrize(
    ("resource", "label"),
    [
        ("amd.com/gpu", "amd.com/gpu.product-name"),
        ("hygon.com/hcu", "hygon.com/hcu.name"),
        ("enflame.com/gcu", "enflame.com/gcu.model"),
        ("cambricon.com/mlu590", "Model"),
        ("huawei.com/Ascend310P", "huawei.com/Ascend310P.product"),
        ("alibabacloud.com/ppu", "alibabacloud.com/ppu.product"),
        ("new.example/xpu", "new.example/xpu.product"),
    ],
)
def test_p4_a_card_of_a_pool_at_zero_is_looked_for_by_what_counts_first(
    resource: str, label: str
) -> None:
    assert a_ledger().known_card("X", resource).labels == ((label, "X"),)


@pytest.mark.parametrize("kind", ["Ascend310", "Ascend310P", "npu"])
def test_d1_the_plain_rule_holds_for_each_resource_of_a_row(kind: str) -> None:
    resource = f"huawei.com/{kind}"
    labels = {f"{resource}.product": "Mine", "node.kubernetes.io/npu.chip.name": "310P3"}
    shown = {**labels, f"{resource}.memory": "21527"}
    assert cards(node(shown, {resource: "4"})) == {"Mine": 4}


def test_d7_nothing_is_learned_from_a_name_left_behind_at_zero() -> None:
    """As while a plugin starts again: which of a maker's names it will use nobody knows."""
    labels = {"node.kubernetes.io/npu.chip.name": "910B3"}
    at_zero = node(labels, {"huawei.com/Ascend310P": "0", "huawei.com/Ascend910": "0"})
    assert at_zero.facts().cards == ()
    assert at_zero.facts().problems == ()
    ledger = a_ledger(at_zero)
    see(ledger, node(labels, {"huawei.com/Ascend910": "8"}))
    assert ledger.catalog.resource("910B3") == "huawei.com/Ascend910"
    assert ledger.nodes.total("910B3") == 8
    # By its own product label it is named, whatever is offered of it.
    named = {"huawei.com/npu.product": "N", "huawei.com/npu.memory": "1024"}
    assert cards(node(named, {"huawei.com/npu": "0"})) == {"N": 0}


def test_d9_a_leftover_beside_other_cards_is_no_second_product() -> None:
    labels, allocatable, found = NODES["NVIDIA"]
    leftover = {**allocatable, "cambricon.com/mlu": "0"}
    assert cards(node({**labels, "Model": "PowerEdge-R750"}, leftover)) == found


def test_d6_the_first_row_that_counts_a_name_wins() -> None:
    mine = Vendor("Mine", "mine.example", "gpu", others=("amd.com/gpu",))
    table = VendorTable([mine, Vendor("Yours", "amd.com", "gpu")])
    assert table.owner("amd.com/gpu") is mine
    upgraded = VendorTable([Vendor("Ours", "huawei.com", "Ascend310P")])
    owner = upgraded.owner("huawei.com/Ascend310P")
    assert owner is not None
    assert owner.name == "Ours"
    assert [row.name for row in table][:3] == ["Mine", "Yours", "NVIDIA"]


@pytest.mark.parametrize(
    ("kind", "whole"),
    [("m7", True), ("m7-x5k", True), ("m", False), ("m7.shared", False), ("n7", False)],
)
def test_d6_a_beginning_stands_for_names_without_a_dot(kind: str, whole: bool) -> None:
    row = Vendor("A", "a.example", "x", kinds="m")
    assert row.counts_whole(f"a.example/{kind}") is whole
    assert not row.counts_whole(f"b.example/{kind}")
    assert bool(re.fullmatch(row.pattern(), f"a.example/{kind}")) is whole


VGPU = Vendor("Virtual", "nvidia.com", "vgpu")


@pytest.mark.parametrize(
    "rows",
    [
        [VGPU],
        [VGPU, Vendor("Ours", "nvidia.com", "gpu")],
        [Vendor("Ours", "nvidia.com", "gpu"), VGPU],
    ],
)
def test_d4_slices_stay_with_the_cards_called_gpu_whatever_else_a_prefix_has(
    rows: list[Vendor],
) -> None:
    table = VendorTable(rows)
    owner = table.owner("nvidia.com/mig-1g.18gb")
    assert owner is not None
    assert owner.type == "gpu"
    labels = {"nvidia.com/gpu.product": "NVIDIA-H200", "nvidia.com/gpu.memory": "143771"}
    body = node(labels, {"nvidia.com/gpu": "7", "nvidia.com/mig-1g.18gb": "3"})
    facts = node_facts(body.wire(), table)
    assert {card.name: amount for card, amount in facts.cards} == {
        "NVIDIA-H200": 7,
        "NVIDIA-H200/mig-1g.18gb-mixed": 3,
    }
    assert facts.problems == ()
    # So a pod for a slice of a pool at zero is led to nodes with that product (P4, P5).
    assert owner.card("NVIDIA-H200/mig-1g.18gb-mixed", "nvidia.com/mig-1g.18gb").labels == (
        ("nvidia.com/gpu.product", "NVIDIA-H200"),
    )


@pytest.mark.parametrize("rows", [[VGPU], []])
def test_d4_a_slice_is_of_no_product_of_another_type(rows: list[Vendor]) -> None:
    """Whether that type has a row or is known by the plain rule alone: reported, not counted."""
    labels = {"nvidia.com/vgpu.product": "V", "nvidia.com/vgpu.memory": "1024"}
    body = node(labels, {"nvidia.com/vgpu": "4", "nvidia.com/mig-1g.18gb": "3"})
    facts = node_facts(body.wire(), VendorTable(rows))
    assert {card.name: amount for card, amount in facts.cards} == {"V": 4}
    (problem,) = facts.problems
    assert problem == (
        "nvidia.com/mig-1g.18gb is offered, but no label says of which product "
        "(nvidia.com/gpu.product)"
    )
