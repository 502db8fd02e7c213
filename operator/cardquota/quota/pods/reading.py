"""What pods ask for, read once for all with the same text; and how many bytes a pod takes (P8)."""

from collections.abc import Hashable
from dataclasses import replace
from sys import getsizeof
from typing import Final, NamedTuple

from ..amounts import Amounts, Devices
from ..cards.vendor import may_count_cards
from ..kept_objects import SizedCache
from ..limits import KIB
from .pod_facts import PodFacts
from .pod_request import (
    InvalidRequest,
    Knowledge,
    PodRequest,
    invalid_request,
    lacks_node,
    named_elsewhere,
    read_request,
)

MOST: Final = 8 * 1024 * KIB
"""Bytes of the readings of all queues: thousands of usual pods, dozens of the largest allowed."""
_READING: Final = 1_000
"""Bytes of a reading and its key besides texts and cards."""


class Reading(NamedTuple):
    """A pod's request for one queue's quota and the known cards and nodes."""

    request: PodRequest
    invalid_request: InvalidRequest | None
    """What is wrong with the request itself, regardless of room."""
    elsewhere: tuple[str, ...] | None
    """The cards it asks for, if the nodes that it names have none of them; else None."""
    lacks_node: bool
    """Whether none of the nodes that it names has a card for it, so far."""


_Key = tuple[Hashable, str | None, Devices, bytes, int, int, str]
"""All that a reading follows from beside what is known: the mark of the quota; of the pod the text
that names cards, devices, selector, cpu, memory and problem. A plain tuple, for it is made at every
question and never taken apart.
"""


class Readings:
    """The readings for all queues of a ledger, kept until something they depend on changes.

    Guarantee: the same result as reading again, if `version` changes whenever the known cards or
    nodes change, and if each quota has its own mark. Together they take at most `most` bytes.
    """

    __slots__ = ("_found", "_version")

    def __init__(self, most: int = MOST) -> None:
        self._found = SizedCache[_Key, Reading](most)
        self._version: Hashable = None

    def __len__(self) -> int:
        """How many readings are kept."""
        return len(self._found)

    def of(
        self,
        facts: PodFacts,
        quota: Amounts,
        mark: Hashable,
        known: Knowledge,
        version: Hashable,
        *,
        exempt_cpu_memory: bool,
    ) -> Reading:
        """The reading of an unbound pod. The key has every fact of the pod that matters."""
        if version != self._version:
            self._found.clear()
            self._version = version
        key = (
            mark,
            facts.card_text,
            facts.devices,
            facts.selector,
            facts.cpu,
            facts.memory,
            facts.problem,
        )
        found = self._found.get(key)
        if found is None:
            found = read(facts, quota, known, exempt_cpu_memory=exempt_cpu_memory)
            self._found.put(key, found, _size_of(facts, found))
        return found


def _size_of(facts: PodFacts, found: Reading) -> int:
    """Bytes of a reading and its key; an overestimate if it shares texts with the pod."""
    texts: list[object] = [facts.card_text, facts.selector, facts.problem, facts.devices]
    texts += [text for device in facts.devices for text in (device, *device)]
    for cards in (found.request.cards, found.elsewhere or ()):
        texts += (cards, *cards)
    if found.invalid_request is not None:
        texts.append(found.invalid_request.text)
    return _READING + sum(map(getsizeof, texts))


def read(facts: PodFacts, quota: Amounts, known: Knowledge, *, exempt_cpu_memory: bool) -> Reading:
    """Make a reading without the cache. Never raises."""
    request = read_request(facts, quota, known, exempt_cpu_memory=exempt_cpu_memory)
    elsewhere = named_elsewhere(facts, request, quota, known)
    return Reading(
        request,
        invalid_request(facts, request, quota, known),
        elsewhere,
        not facts.problem and lacks_node(facts, request, elsewhere, known),
    )


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
