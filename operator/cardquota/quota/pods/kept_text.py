"""How much text of waiting pods is kept in all (P8).

Each pod has its own limits, but nothing here bounds the number of pods. Small pods are always kept
whole. For the others there is one bound together, and one for each namespace. Pods that have a node
do not count: the nodes bound their number.
"""

from dataclasses import replace
from typing import Final

from ..amounts import Devices
from ..cards.vendor import may_count_cards
from ..limits import KIB, LARGE_TEXT, LARGE_TEXTS, LARGE_TEXTS_OF_ONE
from ..messages import request_messages
from .pod_facts import PodFacts, State

_OBJECT: Final = 300
"""Bytes of a toleration besides its characters, or of a gate."""
_DEVICE: Final = 150
"""Bytes of a resource name besides its characters, with the amount."""
_FEW: Final = 4
"""Resource names that are always kept: a pod may ask for one kind of card."""
_OF_BOUND: Final = KIB
"""Characters of `card.name` that are kept once a pod has a node: the node decides its charge."""


class KeptText:
    """The sizes of the texts that are kept of pods, by uid."""

    def __init__(self) -> None:
        self._sizes: dict[str, tuple[str, int]] = {}
        """Large pods only: namespace, bytes."""
        self.total = 0
        """Bytes, of all of them."""
        self.of_namespace: dict[str, int] = {}
        """Bytes, by namespace."""

    def admit(self, facts: PodFacts) -> PodFacts:
        """The pod as it may be kept: without its texts if too much is kept already.

        Such a pod waits until it changes: its next event has it checked again.
        """
        self.forget(facts.uid)
        if facts.state is State.BOUND:
            return _of_bound(facts)
        size, namespace = _size_of(facts), facts.namespace
        if size <= LARGE_TEXT.most:
            return facts
        of_namespace = self.of_namespace.get(namespace, 0) + size
        for limit, kept in ((LARGE_TEXTS_OF_ONE, of_namespace), (LARGE_TEXTS, self.total + size)):
            if kept > limit.most:
                return _without_texts(facts, request_messages.too_much_waits(LARGE_TEXT, limit))
        self._sizes[facts.uid] = namespace, size
        self.total += size
        self.of_namespace[namespace] = of_namespace
        return facts

    def forget(self, uid: str) -> None:
        """A pod is gone or has changed. May be called again."""
        found = self._sizes.pop(uid, None)
        if found is None:
            return
        namespace, size = found
        self.total -= size
        self.of_namespace[namespace] -= size
        if not self.of_namespace[namespace]:
            del self.of_namespace[namespace]


def _of_bound(facts: PodFacts) -> PodFacts:
    """The pod with only the first of the cards that it names, if the text is long."""
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


def _few(devices: Devices) -> Devices:
    """The first few, possible cards first. They are all read again once the pod has a node."""
    if len(devices) <= _FEW:
        return devices
    return tuple(sorted(sorted(devices, key=lambda one: not may_count_cards(one[0]))[:_FEW]))


def _size_of(facts: PodFacts) -> int:
    """Bytes of a pod's texts (where it may run, what it names) and of what is made of them."""
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
