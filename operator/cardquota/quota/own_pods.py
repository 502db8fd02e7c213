"""What the pods that a workload has hold of its queue, for a word on how many it may have (E2)."""

from collections.abc import Iterable

from .pod_facts import PodFacts
from .pod_record import PodRecord


class OwnPods:
    """A workload's pods, exact, from the ledger."""

    def __init__(self, records: Iterable[PodRecord] = ()) -> None:
        self.holding: list[PodRecord] = []
        """Let through or bound, and there to stay."""
        self.waiting: list[PodRecord] = []
        """At the gate: those get what room is left. They hold nothing."""
        self._leaving: list[PodRecord] = []
        """Held, and being deleted."""
        for record in records:
            if not record.held:
                self.waiting.append(record)
            elif record.facts.terminating:
                self._leaving.append(record)
            else:
                self.holding.append(record)

    def kept(self, template: PodFacts | None) -> tuple[int, dict[str, int]]:
        """How many hold what a pod of this template asks for, and, by dimension, what all others
        give back. Without a template all give back.
        """
        others = list(self._leaving)
        alike = 0
        for record in self.holding:
            if template is not None and _alike(record.facts, template):
                alike += 1
            else:
                others.append(record)
        return alike, charged(others)

    def leaving(self) -> dict[str, int]:
        """What those hold, by dimension, that do not stay."""
        return charged(self._leaving)


def charged(records: Iterable[PodRecord]) -> dict[str, int]:
    """What these pods are charged together, by dimension."""
    found: dict[str, int] = {}
    for record in records:
        for dimension, amount in record.charge:
            found[dimension] = found.get(dimension, 0) + amount
    return found


def _alike(facts: PodFacts, template: PodFacts) -> bool:
    """By its cards alone: cpu and memory of a pod are changed on its way by others."""
    return (facts.card_text, facts.devices) == (template.card_text, template.devices)
