"""What pods ask for, read once for all with the same text."""

from collections.abc import Hashable
from sys import getsizeof
from typing import Final

from ..amounts import Amounts, Devices
from ..kept_objects import SizedCache
from ..limits import KIB
from .pod_facts import PodFacts
from .pod_request import Knowledge, Reading, read

MOST: Final = 8 * 1024 * KIB
"""Bytes of the readings of all queues: thousands of usual pods, dozens of the largest allowed."""
_READING: Final = 1_000
"""Bytes of a reading and its key besides texts and cards."""


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
