"""The makers whose nodes are known in advance: data, not code (D6).

Each row says what the maker's own device plugin and labeller write, and the source of that. A maker
that follows the plain rule is counted without a row. A row makes its resource names known before
any node has shown them, so that its pods reach the admission webhook.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from .card import SLOT_PART, MemoryUnit
from .vendor import SLICED_TYPE, ProductLabels, Vendor

_WRITTEN: Final = MemoryUnit.WRITTEN

_MLU: Final = ("220", "270", "290", "365", "370", "370-x5k", "580", "590")
"""Cambricon's models. Names such as `mlu-mem` and `mlunum` count something else."""

DEFAULT_VENDORS: Final = (
    # NVIDIA/k8s-device-plugin v0.16, internal/lm/resource.go and docs/gpu-feature-discovery.
    Vendor("NVIDIA", "nvidia.com", "gpu"),
    # Our node agent (docs/node.md). The labels are still those of NVIDIA's own software.
    Vendor(
        "cardquota's node agent",
        "cardquota.volcano.sh",
        "slot",
        own=(ProductLabels("nvidia.com/gpu.product"),),
        own_first=True,
        part=SLOT_PART,
    ),
    # ROCm/k8s-device-plugin, cmd/k8s-node-labeller/main.go at 14316e20. The plain key is there
    # if all cards of the node are of one product. `amd.com/gpu` counts partitions where there are
    # any; with `-resource_naming_strategy mixed` they have names of their own (`amd.com/cpx_nps4`),
    # which are not counted.
    Vendor(
        "AMD",
        "amd.com",
        "gpu",
        own=(ProductLabels("amd.com/gpu.product-name", "amd.com/gpu.vram", _WRITTEN),),
        own_first=True,
        partition="amd.com/compute-memory-partition",
    ),
    # Ascend/mind-cluster, ascend-device-plugin/pkg/server/labelers.go at e64ad446 writes both keys
    # (the older one, here the first, will be removed). The resources are in
    # ascend-common/api/default_name.go. Templates of a divided chip (`Ascend910-16c`) are not
    # counted. Here and for PPU a label by the plain rule comes first: users who label their nodes
    # so did it before the maker's own labels existed.
    Vendor(
        "Huawei Ascend",
        "huawei.com",
        "Ascend910",
        others=("huawei.com/Ascend310", "huawei.com/Ascend310P", "huawei.com/npu"),
        own=(
            ProductLabels(
                "node.kubernetes.io/npu.chip.name", "mind-cluster/npu-chip-memory", _WRITTEN
            ),
            ProductLabels("huawei.com/npu.chip.name", "huawei.com/npu.chip.memory", _WRITTEN),
        ),
    ),
    # HYGON-AI/k8s-hcu-label-node, cmd/main.go at c13012d8 (3.0 calls a DCU an HCU). The older
    # labels are from a copy of Hygon's documentation of dcu-label-node.
    Vendor(
        "Hygon DCU",
        "hygon.com",
        "dcu",
        own=(ProductLabels("hygon.com/dcu.name", "hygon.com/dcu.vram", _WRITTEN),),
        own_first=True,
    ),
    Vendor(
        "Hygon HCU",
        "hygon.com",
        "hcu",
        own=(ProductLabels("hygon.com/hcu.name", "hygon.com/hcu.vram", _WRITTEN),),
        own_first=True,
    ),
    # The source is closed: labels of a node with metax-operator 0.9.2, as its users print them.
    # The key is that of the plain rule, but the memory has a unit.
    Vendor(
        "MetaX",
        "metax-tech.com",
        "gpu",
        own=(ProductLabels("metax-tech.com/gpu.product", "metax-tech.com/gpu.memory", _WRITTEN),),
        own_first=True,
    ),
    # Enflame's guide "GCU Feature Discovery"; EnflameTechnology/gcushare at 0cac9d1f. Newer nodes
    # have the code name of the chip in `gcu.product`.
    Vendor(
        "Enflame",
        "enflame.com",
        "gcu",
        own=(ProductLabels("enflame.com/gcu.model", "enflame.com/gcu.memory"),),
        own_first=True,
    ),
    # Alibaba Cloud's documentation of PPUs in ACK Lingjun node pools, 2026-09-04.
    Vendor(
        "Alibaba PPU",
        "alibabacloud.com",
        "ppu",
        own=(ProductLabels("aliyun.accelerator/ppu_name", "aliyun.accelerator/ppu_mem", _WRITTEN),),
    ),
    # Cambricon/cambricon-k8s-device-plugin, pkg/nodeLabel/nodelabel.go at 64fc8f17 (2.0.20): the
    # key has no prefix. pkg/mlu/server.go at 52df20a7: the resource may carry the type of device.
    Vendor(
        "Cambricon",
        "cambricon.com",
        "mlu",
        others=tuple(f"cambricon.com/mlu{model}" for model in _MLU),
        own=(ProductLabels("Model"),),
        own_first=True,
    ),
)


class VendorTable:
    """The configured rows, then the built-in ones. The first row that owns a name counts.

    Slices of a prefix belong to its row of type `gpu`, if there is one (D4).
    """

    def __init__(self, configured: Iterable[Vendor] = ()) -> None:
        """A configured row replaces the built-in one of its `<prefix>/<type>`."""
        rows = tuple(configured)
        replaced = {row.usual for row in rows}
        self._rows = (*rows, *(row for row in DEFAULT_VENDORS if row.usual not in replaced))
        self._by_prefix: dict[str, list[Vendor]] = {}
        """By the prefix of a resource name: the rows that may own it."""
        for row in self._rows:
            for prefix in {name.partition("/")[0] for name in (row.usual, *row.others)}:
                self._by_prefix.setdefault(prefix, []).append(row)
        # Called for every pod. Bounded, since users write any resource names.
        self.owner = lru_cache(maxsize=1024)(self._owner)
        """The row whose cards a resource name counts, or None."""

    def __iter__(self) -> Iterator[Vendor]:
        return iter(self._rows)

    def _owner(self, resource: str) -> Vendor | None:
        rows = self._by_prefix.get(resource.partition("/")[0], ())
        owners = [row for row in rows if row.owns(resource)]
        cut = [row for row in owners if row.mig_profile(resource) and row.type == SLICED_TYPE]
        return next(iter(cut or owners), None)

    @property
    def pattern(self) -> str:
        """A regular expression (RE2 and Python) for exactly the resource names of all rows."""
        return "^(" + "|".join(row.pattern() for row in self._rows) + ")$"


DEFAULT_TABLE: Final = VendorTable()
