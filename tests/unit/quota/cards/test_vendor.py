"""D2, D6: which resource names count cards of a maker, and which labels name them."""

import re

import pytest

from cardquota.quota.cards import Vendor, may_count_cards, plain_vendor

NVIDIA = Vendor("NVIDIA", "nvidia.com", "gpu")


@pytest.mark.parametrize(
    "resource", ["nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.18gb"]
)
def test_d2_whole_cards_shares_and_slices_are_the_makers(resource: str) -> None:
    assert NVIDIA.owns(resource)
    assert re.fullmatch(NVIDIA.pattern(), resource)


@pytest.mark.parametrize(
    "resource",
    [
        *("nvidia.com/hostdev", "nvidia.com/gpumem", "nvidia.com/gpuXshared"),
        *("amd.com/gpu", "amd.com/mig-1g", "gpu"),
    ],
)
def test_d2_a_prefix_alone_makes_no_card(resource: str) -> None:
    assert not NVIDIA.owns(resource)
    assert not re.fullmatch(NVIDIA.pattern(), resource)


@pytest.mark.parametrize(
    "label",
    ["nvidia.com/gpu.memory", "gpu.product", "nvidia.com/.product", "nvidia.com/mig-1g.product"],
)
def test_d1_other_labels_name_none(label: str) -> None:
    assert plain_vendor(label) is None


@pytest.mark.parametrize(
    ("card", "labels"),
    [
        ("NVIDIA-H200", {"nvidia.com/gpu.product": "NVIDIA-H200"}),
        ("NVIDIA-H200/mig-1g.18gb-mixed", {"nvidia.com/gpu.product": "NVIDIA-H200"}),
        (
            "NVIDIA-H800/mps-80g*1/2",
            {
                "nvidia.com/gpu.product": "NVIDIA-H800",
                "nvidia.com/gpu.replicas": "2",
            },
        ),
        (
            "NVIDIA-H800/shared-80g*1/2",
            {
                "nvidia.com/gpu.product": "NVIDIA-H800",
                "nvidia.com/gpu.replicas": "2",
                "nvidia.com/gpu.sharing-strategy": "time-slicing",
            },
        ),
        ("NVIDIA-H800/odd", {"nvidia.com/gpu.product": "NVIDIA-H800"}),
    ],
)
def test_p4_a_card_that_no_node_shows_has_the_labels_its_name_speaks_of(
    card: str, labels: dict[str, str]
) -> None:
    found = NVIDIA.card(card, "nvidia.com/gpu")
    assert dict(found.labels) == labels
    assert bool(found.barred) == ("/mps-" in card)
    assert set(found.barred) <= {("nvidia.com/gpu.sharing-strategy", "time-slicing")}


@pytest.mark.parametrize(
    "resource",
    [
        *("metax-tech.com/gpu", "cambricon.com/mlu370", "huawei.com/Ascend310P"),
        *("hygon.com/dcu", "enflame.com/gcu", "new.example/xpu", "xilinx.com/fpga"),
    ],
)
def test_p4_a_resource_of_a_makers_domain_may_count_cards(resource: str) -> None:
    assert may_count_cards(resource)


@pytest.mark.parametrize(
    "resource",
    [
        *("rdma/hca", "rdma/hca_shared_devices_a", "gpu", "nvidia.com/hostdev"),
        *("intel.com/intel_sriov_netdevice", "intel.com/sriov-dpdk", "vpc.amazonaws.com/efa"),
        *("devices.kubevirt.io/kvm", "github.com/fuse", "openshift.io/mlx5_0", "smarter/video"),
    ],
)
def test_p4_well_known_other_devices_count_none(resource: str) -> None:
    assert not may_count_cards(resource)
