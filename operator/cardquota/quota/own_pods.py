"""What the pods that a workload has hold of its queue, for a word on how many it may have (E2)."""

from collections.abc import Iterable

from .bucket import Bucket
from .pod_facts import PodFacts
from .pod_record import PodRecord


class OwnPods:
    """A workload's pods that count against the quota when the next one is created.

    Exact, from the ledger. Those that wait their turn at the gate (Gate) hold nothing and are not
    among them.
    """

    def __init__(self, records: Iterable[PodRecord] = ()) -> None:
        self.holding: list[PodRecord] = []
        """Let through or bound, and there to stay."""
        self._leaving: list[PodRecord] = []
        """Being deleted; or on their way through the gate (Deny): those get what room is left, and
        some may have been made when the policy was another one."""
        for record in records:
            if record.held and not record.facts.terminating:
                self.holding.append(record)
            elif record.bucket is not Bucket.GATED_GATE:
                self._leaving.append(record)

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
        """What those hold, by dimension, that do not stay, or have no place yet."""
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
