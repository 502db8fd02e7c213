"""What the pods of a workload hold of its queue, to say how many it may have (E2)."""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final

from ..amounts import Amount, Amounts, Charge, MutableAmounts
from .pod_facts import PodFacts
from .pod_record import ChargeState, PodRecord

APART: Final = 256
"""Pods between two sums that are kept."""


class WorkloadUsage:
    """A workload's pods, added up one by one. A question costs no step for each pod."""

    def __init__(self, template: PodFacts | None = None) -> None:
        """`template`: the charge of pods that ask for the same stays. None: of no pod."""
        self._template = template
        self.waiting = Counter[Hashable]()
        """By class key: pods at the gate under policy Deny. They hold nothing and get the room that
        is left."""
        self.alike = 0
        """How many pods hold what the template asks for and are not being deleted."""
        self.given_back: MutableAmounts = {}
        """What all other pods hold."""
        self._leaving: MutableAmounts = {}
        """The part of `given_back` that pods under deletion hold."""
        self._holding: list[Charge] = []
        """Charges of pods that are let through or bound and are not being deleted."""
        self._sums: list[Amounts] = [{}]
        """Sums of the first charges: of none, and of each `APART` more."""
        self._sum: MutableAmounts = {}

    def add(self, record: PodRecord) -> None:
        """Add a pod of the workload."""
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
        if self.holding % APART == 0:
            self._sums.append(dict(self._sum))
        if self._template is not None and _alike(record.facts, self._template):
            self.alike += 1
        else:
            _put(self.given_back, charge)

    @property
    def holding(self) -> int:
        """How many pods are let through or bound and are not being deleted."""
        return len(self._holding)

    def freed_by(self, number: int) -> Amounts:
        """What the pods under deletion and the first `number` of the others give back. The others
        are in the order in which they were added.
        """
        freed = dict(self._leaving)
        summed = number // APART
        for charge in (self._sums[summed].items(), *self._holding[summed * APART : number]):
            _put(freed, charge)
        return freed


def _put(sums: MutableAmounts, charge: Iterable[Amount]) -> None:
    for dimension, amount in charge:
        sums[dimension] = sums.get(dimension, 0) + amount


def _alike(facts: PodFacts, template: PodFacts) -> bool:
    """Compares only the cards: other controllers may change a pod's cpu and memory on its way."""
    return (facts.card_text, facts.devices) == (template.card_text, template.devices)
