"""Taints of nodes, and which of them pods tolerate, by the scheduler's rule.

Equal ones share one object: clusters have few kinds of either.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..kept_objects import SizedCache
from ..objects.node import Taint, Toleration
from .card_requirement import compares

_KEEP_AWAY: Final = ("NoSchedule", "NoExecute")
"""The third effect, PreferNoSchedule, keeps no pod away."""


class NodeTaint(NamedTuple):
    """A taint that keeps pods away from a node."""

    key: str
    value: str
    effect: str


class PodToleration(NamedTuple):
    """A toleration. An empty key stands for every key, an empty effect for every effect."""

    key: str
    operator: str
    value: str
    effect: str

    def covers(self, taint: NodeTaint) -> bool:
        """Whether it tolerates this taint."""
        if self.effect not in ("", taint.effect):
            return False
        if self.key not in ("", taint.key):
            return False
        match self.operator:
            case "Exists":
                return True
            case "Equal" | "":
                return bool(self.key) and self.value == taint.value
            case "Gt" | "Lt":
                return bool(self.key) and compares(self.operator, taint.value, self.value)
            case _:
                return False


Taints = tuple[NodeTaint, ...]
Tolerations = tuple[PodToleration, ...]


_TUPLE: Final = 300
"""Bytes of a taint or toleration besides its characters."""
TAINTS_KEPT: Final = SizedCache[Taints, Taints]()
TOLERATIONS_KEPT: Final = SizedCache[Tolerations, Tolerations]()


def taints_of(found: Iterable[Taint] | None) -> Taints:
    """The taints that keep pods away, sorted."""
    kept = (
        NodeTaint(t.key, t.value or "", t.effect) for t in found or () if t.effect in _KEEP_AWAY
    )
    taints = tuple(sorted({NodeTaint(t.key, t.value or "", t.effect) for t in kept}))
    known = TAINTS_KEPT.get(taints)
    return known if known is not None else TAINTS_KEPT.put(taints, taints, _size_of(taints))


def tolerations_of(found: Iterable[Toleration] | None) -> Tolerations:
    """The tolerations of taints that keep pods away, sorted."""
    kept = (
        PodToleration(t.key or "", t.operator or "", t.value or "", t.effect or "")
        for t in found or ()
        if not t.effect or t.effect in _KEEP_AWAY
    )
    tolerations = tuple(sorted(set(kept)))
    known = TOLERATIONS_KEPT.get(tolerations)
    if known is None:
        known = TOLERATIONS_KEPT.put(tolerations, tolerations, _size_of(tolerations))
    return known


class Tolerance:
    """Tolerations prepared for many taints: each is compared with those of its key or of any."""

    __slots__ = ("_by_key", "_of_any", "most")

    def __init__(self, tolerations: Tolerations) -> None:
        by_key: dict[str, list[PodToleration]] = {}
        for one in tolerations:
            by_key.setdefault(one.key, []).append(one)
        self._of_any = by_key.pop("", [])
        self._by_key = by_key
        self.most = len(self._of_any) + max(map(len, by_key.values()), default=0)
        """How many tolerations a taint is compared with, at most."""

    def covers(self, taints: Taints) -> bool:
        """Whether a pod with these tolerations can go to a node with these taints."""
        for taint in taints:
            for one in (*self._by_key.get(taint.key, ()), *self._of_any):
                if one.covers(taint):
                    break
            else:
                return False
        return True


def tolerates(tolerations: Tolerations, taints: Taints) -> bool:
    """Whether a pod with these tolerations can go to a node with these taints."""
    return not taints or Tolerance(tolerations).covers(taints)


def _size_of(things: Iterable[tuple[str, ...]]) -> int:
    return sum(_TUPLE + sum(map(len, thing)) for thing in things)
