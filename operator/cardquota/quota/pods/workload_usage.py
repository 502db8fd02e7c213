"""What the pods that a workload has hold of its queue, for a word on how many it may have (E2)."""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final

from ..stamp import Charge
from .charge_state import ChargeState
from .pod_facts import PodFacts
from .pod_record import PodRecord

_APART: Final = 256
"""Pods between two sums that are kept."""


class WorkloadUsage:
    """A workload's pods, added up one by one. What is asked of them costs nothing for each."""

    def __init__(self, template: PodFacts | None = None) -> None:
        """`template`: of those that ask for as much the charge stays; None: of none."""
        self._template = template
        self.waiting = Counter[Hashable]()
        """By class key, those at the gate under policy Deny. They hold nothing, and get what
        room is left."""
        self.alike = 0
        """How many hold what a pod of the template asks for, and are there to stay."""
        self.given_back: dict[str, int] = {}
        """What all others hold, by dimension."""
        self._leaving: dict[str, int] = {}
        """What those hold that are being deleted: a part of it."""
        self._holding: list[Charge] = []
        """Of those that are let through or bound, and there to stay."""
        self._sums: list[dict[str, int]] = [{}]
        """What the first of these hold together: of none, and of every `_APART` more."""
        self._sum: dict[str, int] = {}

    def add(self, record: PodRecord) -> None:
        """One more of them."""
        if not record.held:
            if record.charge_state is ChargeState.GATED_DENY:
                self.waiting[record.class_key] += 1
            return
        charge = record.charge
        if record.facts.terminating:
            _put(self._leaving, charge)
            _put(self.given_back, charge)
            return
        self._holding.append(charge)
        _put(self._sum, charge)
        if self.holding % _APART == 0:
            self._sums.append(dict(self._sum))
        if self._template is not None and _alike(record.facts, self._template):
            self.alike += 1
        else:
            _put(self.given_back, charge)

    @property
    def holding(self) -> int:
        """How many are let through or bound, and there to stay."""
        return len(self._holding)

    def freed_by(self, number: int) -> dict[str, int]:
        """What is given back, by dimension, by those that do not stay and so many that do.

        The first of these, as they were added.
        """
        freed = dict(self._leaving)
        summed = number // _APART
        for charge in (self._sums[summed].items(), *self._holding[summed * _APART : number]):
            _put(freed, charge)
        return freed


def _put(sums: dict[str, int], charge: Iterable[tuple[str, int]]) -> None:
    for dimension, amount in charge:
        sums[dimension] = sums.get(dimension, 0) + amount


def _alike(facts: PodFacts, template: PodFacts) -> bool:
    """By its cards alone: cpu and memory of a pod are changed on its way by others."""
    return (facts.card_text, facts.devices) == (template.card_text, template.devices)
