"""What pods ask for, read once for all that are written alike."""

from collections.abc import Hashable, Mapping
from typing import Final, NamedTuple

from .limits import KIB
from .pod_facts import PodFacts
from .pod_request import (
    Knowledge,
    Objection,
    PodRequest,
    lacks_node,
    named_elsewhere,
    objection,
    read_request,
)
from .sized_cache import SizedCache

_MOST: Final = 64 * KIB
"""Bytes of the readings kept for one queue."""


class Reading(NamedTuple):
    """A pod's request against one queue's quota and what is known of cards and nodes."""

    request: PodRequest
    objection: Objection | None
    """What is wrong with the asking, whatever room there is."""
    elsewhere: tuple[str, ...] | None
    """The cards it asks for where the nodes that it names have none of them; else None."""
    lacks_node: bool
    """Whether none of the nodes that it names has a card for it, so far."""


class Readings:
    """Of one queue, kept as long as nothing they follow from has changed.

    Guarantee: the same as reading anew, provided that `version` differs whenever what is known
    differs, and that `clear` is called with every other quota.
    """

    __slots__ = ("_found", "_version")

    def __init__(self) -> None:
        self._found = SizedCache[Hashable, Reading](_MOST)
        self._version: Hashable = None

    def of(
        self,
        facts: PodFacts,
        quota: Mapping[str, int],
        known: Knowledge,
        version: Hashable,
        *,
        free_cpu_memory: bool,
    ) -> Reading:
        """The reading of an unbound pod. Everything of the pod that counts is in the key."""
        if version != self._version:
            self._found.clear()
            self._version = version
        key = (
            facts.card_text,
            facts.devices,
            facts.selector,
            facts.cpu,
            facts.memory,
            facts.problem,
        )
        found = self._found.get(key)
        if found is None:
            found = read(facts, quota, known, free_cpu_memory=free_cpu_memory)
            self._found.put(key, found, _size_of(facts, found))
        return found

    def clear(self) -> None:
        """The quota is another one."""
        self._found.clear()


def _size_of(facts: PodFacts, found: Reading) -> int:
    """Bytes of it and of its key; a little more where it shares them with the pod."""
    size = len(facts.card_text or "") + len(facts.selector) + len(facts.problem)
    size += sum(len(name) for name, _ in facts.devices) + sum(map(len, found.request.cards))
    return size + (len(found.objection.text) if found.objection else 0)


def read(
    facts: PodFacts, quota: Mapping[str, int], known: Knowledge, *, free_cpu_memory: bool
) -> Reading:
    """Anew. Never raises."""
    request = read_request(facts, quota, known, free_cpu_memory=free_cpu_memory)
    elsewhere = named_elsewhere(facts, request, quota, known)
    return Reading(
        request,
        objection(facts, request, quota, known),
        elsewhere,
        not facts.problem and lacks_node(facts, request, elsewhere, known),
    )
