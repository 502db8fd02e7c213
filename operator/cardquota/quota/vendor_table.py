"""The makers whose nodes are known by heart: data, not code (D6).

Each row says what the maker's own device plugin and labeller write, and where that was read. A
maker that follows the plain rule needs no row to be counted; a row makes its resource names known
before any node has shown them, so that its pods reach the admission webhook. Where the maker's own
labels have another form, a label by the plain rule comes before them: nobody writes it but an
administrator who wants the card to have that name.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from .card_memory import MemoryUnit
from .vendor import Shown, Vendor, plain_vendor


class CollisionError(ValueError):
    """Two rows claim the same resource name or label; the text names both."""


def _labelled(row: Vendor, *ways: Shown) -> Vendor:
    """The plain rule first, then the maker's own way."""
    return Vendor(row.name, row.prefix, row.type, row.others, row.other_types, (row.plain, *ways))


_WRITTEN: Final = MemoryUnit.WRITTEN

DEFAULT_VENDORS: Final = (
    # NVIDIA/k8s-device-plugin v0.16, internal/lm/resource.go and docs/gpu-feature-discovery.
    Vendor("NVIDIA", "nvidia.com", "gpu"),
    # ROCm/k8s-device-plugin, cmd/k8s-node-labeller/main.go at 14316e20. The plain key is there
    # where all cards of the node are of one product. Its partitions (`amd.com/cpx_nps4`) are no
    # whole cards and not counted.
    _labelled(
        Vendor("AMD", "amd.com", "gpu"),
        Shown("amd.com/gpu.product-name", "amd.com/gpu.vram", _WRITTEN),
    ),
    # Ascend/mind-cluster, ascend-device-plugin/pkg/server/labelers.go at e64ad446 writes both keys
    # (the older one is to go), ascend-common/api/default_name.go the resources. Templates of a
    # divided chip (`Ascend910-16c`) are not counted.
    _labelled(
        Vendor(
            "Huawei Ascend",
            "huawei.com",
            "Ascend910",
            others=("huawei.com/Ascend310", "huawei.com/Ascend310P", "huawei.com/npu"),
        ),
        Shown("node.kubernetes.io/npu.chip.name", "mind-cluster/npu-chip-memory", _WRITTEN),
        Shown("huawei.com/npu.chip.name", "huawei.com/npu.chip.memory", _WRITTEN),
    ),
    # HYGON-AI/k8s-hcu-label-node, cmd/main.go at c13012d8 (3.0 calls a DCU an HCU); the older
    # labels as Hygon's documentation of dcu-label-node had them, by a copy of it.
    _labelled(
        Vendor("Hygon DCU", "hygon.com", "dcu"),
        Shown("hygon.com/dcu.name", "hygon.com/dcu.vram", _WRITTEN),
    ),
    _labelled(
        Vendor("Hygon HCU", "hygon.com", "hcu"),
        Shown("hygon.com/hcu.name", "hygon.com/hcu.vram", _WRITTEN),
    ),
    # The source is closed: labels of a node with metax-operator 0.9.2, as its users print them.
    Vendor(
        "MetaX",
        "metax-tech.com",
        "gpu",
        ways=(Shown("metax-tech.com/gpu.product", "metax-tech.com/gpu.memory", _WRITTEN),),
    ),
    # Enflame's guide "GCU Feature Discovery"; EnflameTechnology/gcushare at 0cac9d1f. Newer nodes
    # have the code name of the chip in `gcu.product`: it comes last.
    Vendor(
        "Enflame",
        "enflame.com",
        "gcu",
        ways=(
            Shown("enflame.com/gcu.model", "enflame.com/gcu.memory"),
            Shown("enflame.com/gcu.product", "enflame.com/gcu.memory", needs_memory=True),
        ),
    ),
    # Alibaba Cloud's documentation of PPUs in ACK Lingjun node pools, 2026-09-04.
    _labelled(
        Vendor("Alibaba PPU", "alibabacloud.com", "ppu"),
        Shown("aliyun.accelerator/ppu_name", "aliyun.accelerator/ppu_mem", _WRITTEN),
    ),
    # Cambricon/cambricon-k8s-device-plugin, pkg/nodeLabel/nodelabel.go at 64fc8f17 (2.0.20): the
    # key has no prefix. pkg/mlu/server.go at 52df20a7: the resource may carry the type of device.
    _labelled(
        Vendor("Cambricon", "cambricon.com", "mlu", other_types="mlu[0-9]+(-x5k)?"),
        Shown("Model"),
    ),
)


class VendorTable:
    """Rows, and the questions that are asked of all of them."""

    def __init__(self, rows: Iterable[Vendor] = DEFAULT_VENDORS) -> None:
        """Raises CollisionError where a resource name or a label is claimed twice."""
        self._rows = tuple(rows)
        _check(self._rows)
        # Asked of every pod; bounded, since users write resource names as they like.
        self.owner = lru_cache(maxsize=1024)(self._owner)
        """The row whose cards a resource name counts, or None."""

    def __iter__(self) -> Iterator[Vendor]:
        return iter(self._rows)

    def _owner(self, resource: str) -> Vendor | None:
        return next((row for row in self._rows if row.owns(resource)), None)

    def plain(self, label: str) -> Vendor | None:
        """The vendor of a product label by the plain rule: a row of ours, or made for it (D1)."""
        found = plain_vendor(label)
        if found is None:
            return None
        return self.owner(found.whole[0]) or found

    @property
    def pattern(self) -> str:
        """A regular expression (RE2 and Python) for exactly the resource names of all rows."""
        return "^(" + "|".join(row.pattern() for row in self._rows) + ")$"


def _check(rows: tuple[Vendor, ...]) -> None:
    labels: dict[str, str] = {}
    for place, row in enumerate(rows):
        for other in rows[:place]:
            for resource in (*row.whole, *other.whole):
                if row.owns(resource) and other.owns(resource):
                    raise CollisionError(
                        f"<{other.name}> and <{row.name}> both count <{resource}>: "
                        "take it out of one of the two rows"
                    )
        for way in row.shown:
            if labels.setdefault(way.product, row.name) != row.name:
                raise CollisionError(
                    f"<{labels[way.product]}> and <{row.name}> both read the label "
                    f"<{way.product}>: take it out of one of the two rows"
                )


DEFAULT_TABLE: Final = VendorTable()
