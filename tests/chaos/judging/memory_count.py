"""Which card of which node holds how much, counted anew from stored objects alone.

It shares no code with what it judges: plain sums over pods, and the keys as they are documented.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from .stored import DEVICE, Object

MEMORY, COUNT = "aliyun.com/gpu-mem", "aliyun.com/gpu-count"
INDEX, OF_POD = "ALIYUN_COM_GPU_MEM_IDX", "ALIYUN_COM_GPU_MEM_POD"
_SIZES, _UNHEALTHY = "volcano.sh/card.memory", "volcano.sh/card.unhealthy"
_LIST_OF = "unhealthy-gpu-"


@dataclass(frozen=True)
class MemoryHolder:
    """A pod that asks for card memory, or for whole cards."""

    key: str
    uid: str
    node: str
    memory: int
    cards: int
    """Whole ones."""
    index: str | None
    """Of its card, as it is written on it."""
    of_pod: str | None
    """What was given to it, as it is written on it."""
    finished: bool
    ends: bool
    gated: bool
    where: str
    """Its node has this place; empty: any."""

    @property
    def holds(self) -> bool:
        return bool(self.node) and not self.finished


@dataclass(frozen=True)
class SharedNode:
    """What a node says of its cards."""

    sizes: tuple[int, ...]
    """Empty: that cannot be read."""
    offered: int
    unhealthy: str
    """Its own list of broken cards."""


class MemoryCount:
    """The cluster at one revision; `apply` takes it to the next."""

    def __init__(self) -> None:
        self.pods: dict[str, MemoryHolder] = {}
        self.nodes: dict[str, SharedNode] = {}
        """Those that share their cards."""
        self.lists: dict[str, str] = {}
        """Of broken cards, as ConfigMaps have them, by node."""

    def apply(self, kind: str, key: str, thing: Object | None) -> None:
        """One change."""
        if kind == "pod":
            self._put(self.pods, key, read_holder(key, thing) if thing else None)
        elif kind == "node":
            self._put(self.nodes, key, read_shared(thing) if thing else None)
        elif kind == "list" and key.startswith(_LIST_OF):
            text = (thing.get("data") or {}).get("gpus", "") if thing else None
            self._put(self.lists, key.removeprefix(_LIST_OF), text)

    @staticmethod
    def _put(rows: dict[str, Any], key: str, value: object) -> None:
        rows.pop(key, None)
        if value is not None:
            rows[key] = value

    def on(self, node: str) -> list[MemoryHolder]:
        """Who holds anything there."""
        return [pod for pod in self.pods.values() if pod.node == node and pod.holds]

    def used(self, node: str, cards: int) -> tuple[list[int], int]:
        """By card, if there are so many; and what is held of which the card is not known."""
        found, unknown = [0] * cards, 0
        for pod in self.on(node):
            index = index_of(pod)
            if index is not None and index < cards:
                found[index] += pod.memory
            else:
                unknown += pod.memory
        return found, unknown

    def broken(self, node: str) -> frozenset[int]:
        """Cards that are broken for certain: by a list that can be read now."""
        shared = self.nodes.get(node)
        if shared is None:
            return frozenset()
        found: set[int] = set()
        for text in (self.lists.get(node, ""), shared.unhealthy):
            listed = {int(one) for one in text.split(",")} if _plain(text) else set()
            if all(index < len(shared.sizes) for index in listed):
                found |= listed
        return frozenset(found)

    def fits(self, pod: MemoryHolder, node: str) -> bool:
        """Whether a card of the node has room for a pod that waits."""
        shared = self.nodes.get(node)
        here = self.on(node)
        if shared is None or any(other.cards for other in here):
            return False
        used, unknown = self.used(node, len(shared.sizes))
        if sum(used) + unknown + pod.memory > shared.offered:
            return False
        broken = self.broken(node)
        return any(
            used[card] + unknown + pod.memory <= size
            for card, size in enumerate(shared.sizes)
            if card not in broken
        )


def index_of(pod: MemoryHolder) -> int | None:
    """The card that is written on it, if that can be read."""
    good = pod.index is not None and re.fullmatch(r"0|[1-9]\d{0,5}", pod.index)
    return int(pod.index or "") if good and pod.of_pod in (None, str(pod.memory)) else None


def read_holder(key: str, thing: Object) -> MemoryHolder | None:
    """A stored pod; None: it asks for nothing of a card."""
    meta, spec, status = thing["metadata"], thing.get("spec") or {}, thing.get("status") or {}
    notes = meta.get("annotations") or {}
    limits = [(c.get("resources") or {}).get("limits") or {} for c in spec.get("containers", ())]
    memory = sum(_amount(limit.get(MEMORY, 0)) for limit in limits)
    cards = sum(_amount(limit.get(DEVICE, 0)) for limit in limits)
    if not memory and not cards:
        return None
    return MemoryHolder(
        key=key,
        uid=meta.get("uid", ""),
        node=spec.get("nodeName") or "",
        memory=memory,
        cards=cards,
        index=notes.get(INDEX),
        of_pod=notes.get(OF_POD),
        finished=status.get("phase") in ("Succeeded", "Failed"),
        ends=bool(meta.get("deletionTimestamp")),
        gated=bool(spec.get("schedulingGates")),
        where=(spec.get("nodeSelector") or {}).get("cardquota.dev/where", ""),
    )


def read_shared(thing: Object) -> SharedNode | None:
    """A stored node; None: it does not share its cards."""
    notes, status = thing["metadata"].get("annotations") or {}, thing.get("status") or {}
    offered = status.get("allocatable") or {}
    memory, number = _amount(offered.get(MEMORY, 0)), _amount(offered.get(COUNT, 0))
    if not memory and not number:
        return None
    text = notes.get(_SIZES)
    sizes: tuple[int, ...] = ()
    if memory and number:
        sizes = tuple(json.loads(text)) if text else (memory // number,) * number
    if len(sizes) != number or sum(sizes) > memory:
        sizes = ()
    return SharedNode(sizes, memory, notes.get(_UNHEALTHY) or "")


_SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "": 1}


def _amount(text: str | int) -> int:
    """As the API server writes whole numbers: 32000 is `32k`."""
    found = re.fullmatch(r"(\d+)([kMG]i?|Ki)?", str(text))
    assert found is not None, text
    return int(found[1]) * _SUFFIXES[found[2] or ""]


def _plain(text: str) -> bool:
    return re.fullmatch(r"\d{1,6}(,\d{1,6})*", text) is not None
