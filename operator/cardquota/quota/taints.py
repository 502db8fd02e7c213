"""Taints of nodes, and what pods tolerate of them, by the scheduler's rule.

Both are kept small and shared: clusters have few kinds of either.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from .number_comparison import compares
from .objects.taints import Taint as TaintObject
from .objects.taints import Toleration as TolerationObject

_KEEP_AWAY: Final = ("NoSchedule", "NoExecute")
"""The third effect is a wish."""


class Taint(NamedTuple):
    """What keeps a pod away from a node."""

    key: str
    value: str
    effect: str


class Toleration(NamedTuple):
    """What a pod puts up with. An empty key is every key, an empty effect every effect."""

    key: str
    operator: str
    value: str
    effect: str

    def covers(self, taint: Taint) -> bool:
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


Taints = tuple[Taint, ...]
Tolerations = tuple[Toleration, ...]


def taints_of(found: Iterable[TaintObject] | None) -> Taints:
    """Those that keep pods away, sorted."""
    kept = (Taint(t.key, t.value or "", t.effect) for t in found or () if t.effect in _KEEP_AWAY)
    return _shared(tuple(sorted(set(kept))))


def tolerations_of(found: Iterable[TolerationObject] | None) -> Tolerations:
    """Those that matter where pods are kept away, sorted."""
    kept = (
        Toleration(t.key or "", t.operator or "", t.value or "", t.effect or "")
        for t in found or ()
        if not t.effect or t.effect in _KEEP_AWAY
    )
    return _shared_tolerations(tuple(sorted(set(kept))))


@lru_cache(maxsize=4096)
def tolerates(tolerations: Tolerations, taints: Taints) -> bool:
    """Whether nothing of these keeps such a pod away."""
    return all(any(one.covers(taint) for one in tolerations) for taint in taints)


@lru_cache(maxsize=1024)
def _shared(taints: Taints) -> Taints:
    return taints


@lru_cache(maxsize=1024)
def _shared_tolerations(tolerations: Tolerations) -> Tolerations:
    return tolerations
