"""How much text of pods that wait is kept in all (P8).

Each pod has its own limits, but how many pods there are is for others to bound. Small ones are
always kept; of the others only so much together, and of one namespace no more than its share.
Pods that have a node do not count: how many there are is bounded by the nodes.
"""

from dataclasses import replace
from typing import Final

from .. import messages
from ..cards.vendor import may_count_cards
from ..limits import KIB, LARGE_TEXT, LARGE_TEXTS, LARGE_TEXTS_OF_ONE
from .pod_facts import PodFacts, State

_OBJECT: Final = 300
"""Bytes of a toleration beside its letters, or of a gate."""
_DEVICE: Final = 150
"""Bytes of a resource name beside its letters, with the amount."""
_FEW: Final = 4
"""Resource names that are kept in any case: a pod may ask for one kind of card."""
_OF_BOUND: Final = KIB
"""Characters of `card.name` that are kept of a pod that has a node: it is charged by that."""


class KeptText:
    """The texts of the pods that are told of, by uid."""

    def __init__(self) -> None:
        self._sizes: dict[str, tuple[str, int]] = {}
        """Of the large ones: namespace, bytes."""
        self._total = 0
        self._of_namespace: dict[str, int] = {}

    def admit(self, facts: PodFacts) -> PodFacts:
        """The pod as it may be kept: without its texts where there is too much already.

        Such a pod waits until it changes: it is looked at again with its next event.
        """
        self.forget(facts.uid)
        if facts.state is State.BOUND:
            return _of_bound(facts)
        size, namespace = _size_of(facts), facts.namespace
        if size <= LARGE_TEXT.most:
            return facts
        of_namespace = self._of_namespace.get(namespace, 0) + size
        for limit, kept in ((LARGE_TEXTS_OF_ONE, of_namespace), (LARGE_TEXTS, self._total + size)):
            if kept > limit.most:
                return _without_texts(facts, messages.too_much_waits(LARGE_TEXT, limit))
        self._sizes[facts.uid] = namespace, size
        self._total += size
        self._of_namespace[namespace] = of_namespace
        return facts

    def forget(self, uid: str) -> None:
        """A pod is gone, or another one than it was; may repeat."""
        found = self._sizes.pop(uid, None)
        if found is None:
            return
        namespace, size = found
        self._total -= size
        self._of_namespace[namespace] -= size
        if not self._of_namespace[namespace]:
            del self._of_namespace[namespace]


def _of_bound(facts: PodFacts) -> PodFacts:
    """The first of the cards that it names, where these are many."""
    text = facts.card_text
    if text is None or len(text) <= _OF_BOUND:
        return facts
    text = text[:_OF_BOUND]
    return replace(facts, card_text=text.rpartition("|")[0] or text)


def _without_texts(facts: PodFacts, problem: str) -> PodFacts:
    return replace(
        facts,
        card_text=None,
        devices=_few(facts.devices),
        selector=b"",
        tolerations=(),
        foreign_gates=(),
        problem=problem,
        oversized=True,
    )


def _few(devices: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Those that may be cards first. What the pod holds is read anew once it has a node."""
    if len(devices) <= _FEW:
        return devices
    return tuple(sorted(sorted(devices, key=lambda one: not may_count_cards(one[0]))[:_FEW]))


def _size_of(facts: PodFacts) -> int:
    """What a pod keeps of where it may go and what it names, with what is made of it."""
    size = len(facts.selector)
    for resource, _ in facts.devices:
        size += _DEVICE + len(resource)
    if facts.card_text:
        size += 4 * len(facts.card_text)  # the names one by one, and the claim
    for one in facts.tolerations:
        size += _OBJECT + len(one.key) + len(one.value)
    for gate in facts.foreign_gates:
        size += _OBJECT + len(gate)
    return size
