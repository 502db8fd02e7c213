"""A circuit breaker per namespace: where gates do not open, few slots are spent on them.

A webhook may refuse, or not answer, every patch of a pod in one namespace.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

_ENOUGH: Final = 3
"""Failures in a row after which the breaker of a namespace trips."""
_SHARE: Final = 4
"""All tripped namespaces together may have one in this many slots."""
_PRUNE_EVERY: Final = 64
"""Deleted namespaces are forgotten each time this many more have failures."""


class Start:
    """A gang of a namespace that is being started."""

    def __init__(self, starts: Counter[str], namespace: str) -> None:
        self._starts = starts
        self._namespace = namespace
        self._ended = False
        starts[namespace] += 1

    def end(self) -> None:
        """It needs no more slots now, or does not start. Only the first call counts."""
        if self._ended:
            return
        self._ended = True
        self._starts[self._namespace] -= 1
        if not self._starts[self._namespace]:
            del self._starts[self._namespace]


class NamespaceCircuitBreaker:
    """Counts failures by namespace, and the patches under way to tripped ones.

    One success resets a namespace.
    """

    def __init__(self, slots: int, exists: Callable[[str], bool]) -> None:
        """`slots`: patches that may be under way at the same time. `exists`: whether a namespace
        still exists.
        """
        self._exists = exists
        self._slots = slots
        self._most = max(1, slots // _SHARE)
        self._failures: dict[str, int] = {}
        self._sending = 0
        self._starts: Counter[str] = Counter()
        """Gangs that are being started, by namespace."""

    def __len__(self) -> int:
        """Namespaces whose failures are remembered."""
        return len(self._failures)

    def tripped(self, namespace: str) -> bool:
        """Whether the last tries to open its gates have all failed."""
        return self._failures.get(namespace, 0) >= _ENOUGH

    def failures(self, namespace: str) -> int:
        """How many of its gates in a row did not open."""
        return self._failures.get(namespace, 0)

    def slots_left(self, namespace: str) -> int:
        """How many more patches may go to this namespace now, as far as the breaker decides."""
        return self._most - self._sending if self.tripped(namespace) else self._slots

    def allows_patch(self, namespace: str) -> bool:
        """Whether one more patch may go to this namespace now."""
        return self.slots_left(namespace) > 0

    def allows_gang(self, namespace: str) -> bool:
        """Whether a gang of this namespace may start now. A tripped one starts one at a time."""
        if not self.tripped(namespace):
            return True
        return self.allows_patch(namespace) and namespace not in self._starts

    def start(self, namespace: str) -> Start:
        """A gang starts. End the result, at the latest when the start has ended."""
        return Start(self._starts, namespace)

    def begin(self, namespace: str) -> bool:
        """A patch is sent. Pass the result to `end`."""
        tripped = self.tripped(namespace)
        self._sending += tripped
        return tripped

    def end(self, namespace: str, *, begun: bool, worked: bool | None) -> None:
        """The patch was answered. `worked` None: that says nothing about the namespace."""
        self._sending -= begun
        if worked:
            self._failures.pop(namespace, None)
        elif worked is False:
            if namespace not in self._failures and len(self._failures) % _PRUNE_EVERY == 0:
                self._failures = {n: c for n, c in self._failures.items() if self._exists(n)}
            self._failures[namespace] = self._failures.get(namespace, 0) + 1
