"""How much text of pods that wait is kept in all (P8).

Each pod has its own limits, but how many pods there are is for others to bound. Small ones are
always kept; of the others only so much together.
"""

from dataclasses import replace
from typing import Final

from . import messages
from .limits import LARGE_TEXT, LARGE_TEXTS
from .pod_facts import PodFacts

_OBJECT: Final = 300
"""Bytes of a toleration beside its letters, or of a gate."""


class KeptText:
    """The texts of the pods that are told of, by uid."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        """Of the large ones, bytes."""
        self._total = 0

    def admit(self, facts: PodFacts) -> PodFacts:
        """The pod as it may be kept: without its texts where there is too much already.

        Such a pod waits until it changes: it is looked at again with its next event.
        """
        self.forget(facts.uid)
        size = _size_of(facts)
        if size <= LARGE_TEXT.most:
            return facts
        if self._total + size > LARGE_TEXTS.most:
            return replace(
                facts,
                card_text=None,
                selector=b"",
                tolerations=(),
                foreign_gates=(),
                problem=messages.too_much_waits(LARGE_TEXT, LARGE_TEXTS),
                oversized=True,
            )
        self._sizes[facts.uid] = size
        self._total += size
        return facts

    def forget(self, uid: str) -> None:
        """A pod is gone, or another one than it was; may repeat."""
        self._total -= self._sizes.pop(uid, 0)


def _size_of(facts: PodFacts) -> int:
    """What a pod keeps of where it may go and what it names, with what is made of it."""
    size = len(facts.selector)
    if facts.card_text:
        size += 4 * len(facts.card_text)  # the names one by one, and the claim
    for one in facts.tolerations:
        size += _OBJECT + len(one.key) + len(one.value)
    for gate in facts.foreign_gates:
        size += _OBJECT + len(gate)
    return size
