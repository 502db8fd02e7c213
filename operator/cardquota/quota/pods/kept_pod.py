"""What is kept of a pod, and how many bytes that takes (P8)."""

from dataclasses import replace
from typing import Final

from ..amounts import Devices
from ..cards.vendor import may_count_cards
from ..limits import KIB
from .pod_facts import PodFacts

_WAITING: Final = 2_100
"""Bytes of a pod that waits with a class of its own, besides its texts: facts, record, indexes."""
_SELECTOR: Final = 400
"""Bytes of a selector that is read, besides its characters."""
_OBJECT: Final = 300
"""Bytes of a toleration besides its characters, of a gate, or of an alternative."""
_DEVICE: Final = 150
"""Bytes of a resource name besides its characters, with the amount."""
_FEW: Final = 4
"""Resource names that are always kept: a pod may ask for one kind of card."""
_OF_BOUND: Final = KIB
"""Characters of `card.name` that are kept once a pod has a node: the node decides its charge."""


def kept_size(facts: PodFacts) -> int:
    """Bytes that a pod without a node takes: at least what is measured, and not twice that."""
    size = _WAITING + len(facts.name) + len(facts.task)
    if facts.selector:
        size += _SELECTOR + 3 * len(facts.selector) // 2
    for resource, _ in facts.devices:
        size += _DEVICE + len(resource)
    if facts.card_text:
        alternatives = facts.card_text.count("|")
        size += 4 * len(facts.card_text) + _OBJECT * alternatives  # one by one
    for one in facts.tolerations:
        size += _OBJECT + len(one.key) + len(one.value)
    for gate in facts.foreign_gates:
        size += _OBJECT + len(gate)
    return size


def kept_once_bound(facts: PodFacts) -> PodFacts:
    """The pod with only the first of the cards that it names, if the text is long."""
    text = facts.card_text
    if text is None or len(text) <= _OF_BOUND:
        return facts
    text = text[:_OF_BOUND]
    return replace(facts, card_text=text.rpartition("|")[0] or text)


def without_texts(facts: PodFacts, problem: str) -> PodFacts:
    """A pod that is charged and has no node, without what says where it may run."""
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
