"""What pods ask for, read once for all that are written alike."""

from collections.abc import Hashable, Mapping
from typing import Final, NamedTuple

from .pod_facts import PodFacts
from .pod_request import (
    Knowledge,
    Objection,
    PodRequest,
    lacks_node,
    objection,
    read_request,
)

_MOST: Final = 256
"""Readings kept for one queue. Users write what they like: the number must have a bound."""


class Reading(NamedTuple):
    """A pod's request against one queue's quota and what is known of cards and nodes."""

    request: PodRequest
    objection: Objection | None
    """What is wrong with the asking, whatever room there is."""
    lacks_node: bool
    """Whether none of the nodes that it names has a card for it, so far."""


class Readings:
    """Of one queue, kept as long as nothing they follow from has changed.

    Guarantee: the same as reading anew, provided that `version` differs whenever what is known
    differs, and that `clear` is called with every other quota.
    """

    __slots__ = ("_found", "_version")

    def __init__(self) -> None:
        self._found: dict[Hashable, Reading] = {}
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
            if len(self._found) >= _MOST:
                self._found.clear()
            found = self._found[key] = read(facts, quota, known, free_cpu_memory=free_cpu_memory)
        return found

    def clear(self) -> None:
        """The quota is another one."""
        self._found.clear()


def read(
    facts: PodFacts, quota: Mapping[str, int], known: Knowledge, *, free_cpu_memory: bool
) -> Reading:
    """Anew. Never raises."""
    request = read_request(facts, quota, known, free_cpu_memory=free_cpu_memory)
    return Reading(
        request,
        objection(facts, request, quota, known),
        not facts.problem and lacks_node(facts, request, quota, known),
    )
