"""Namespaces whose gates do not open, so that they never take the slots of all others.

Somebody's webhook may refuse, or not answer, every patch of a pod in one namespace.
"""

from collections.abc import Callable
from typing import Final

_ENOUGH: Final = 3
"""Failures in a row after which a namespace is suspect."""
_SHARE: Final = 4
"""Suspects together may have one in so many of the slots."""
_PRUNE_EVERY: Final = 64
"""Namespaces after which those that are gone are forgotten."""


class Suspects:
    """Counts failures by namespace, and what is being sent to suspect ones."""

    def __init__(self, slots: int, exists: Callable[[str], bool]) -> None:
        """`slots`: patches that may be under way at the same time. `exists`: whether a namespace
        is still there.
        """
        self._exists = exists
        self._most = max(1, slots // _SHARE)
        self._failures: dict[str, int] = {}
        self._sending = 0

    def may_send(self, namespace: str) -> bool:
        """Whether one more patch may go to this namespace now."""
        return not self._suspect(namespace) or self._sending < self._most

    def begin(self, namespace: str) -> bool:
        """A patch is sent; what is returned is to be given to `end`."""
        suspect = self._suspect(namespace)
        self._sending += suspect
        return suspect

    def end(self, namespace: str, *, begun: bool, worked: bool | None) -> None:
        """It was answered; `worked` None: that says nothing about the namespace."""
        self._sending -= begun
        if worked:
            self._failures.pop(namespace, None)
        elif worked is False:
            if namespace not in self._failures and len(self._failures) % _PRUNE_EVERY == 0:
                self._failures = {n: c for n, c in self._failures.items() if self._exists(n)}
            self._failures[namespace] = self._failures.get(namespace, 0) + 1

    def _suspect(self, namespace: str) -> bool:
        return self._failures.get(namespace, 0) >= _ENOUGH
