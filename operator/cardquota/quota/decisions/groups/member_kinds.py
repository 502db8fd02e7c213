"""Members of a gang that are equal in all that is judged: they are judged once."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ...ledger.pod_classification import without_task
from ...pods.pod_record import PodRecord
from ..assignment import MemberKind


class AlikeMembers(NamedTuple):
    """Pods that are equal in all that is judged, but for the nodes that they may use."""

    first: PodRecord
    places: list[int]
    """The place of each among all that are judged together, in order."""

    @property
    def number(self) -> int:
        """How many pods there are."""
        return len(self.places)

    @property
    def amount(self) -> int:
        """How many cards each pod asks for."""
        return self.first.request.amount if self.first.request else 0

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards of which each pod may use one."""
        return self.first.request.cards if self.first.request and self.amount else ()

    @property
    def kind(self) -> MemberKind:
        """What they ask for. Not for pods that ask for no card."""
        return MemberKind(self.cards, self.amount, self.number)


def alike_members(members: Sequence[PodRecord], most: int) -> list[AlikeMembers]:
    """Members by what is judged, in the order of the first of each. Stops after `most` + 1 kinds.

    Which nodes they select does not matter as far as their cards are the same. With a choice of
    cards a kind is of one task, as far as that makes no more than `most` kinds (E7).
    """
    kinds = _alike_members(members, most, by_task=True)
    return kinds if len(kinds) <= most else _alike_members(members, most, by_task=False)


def _alike_members(members: Sequence[PodRecord], most: int, *, by_task: bool) -> list[AlikeMembers]:
    found: dict[Hashable, AlikeMembers] = {}
    by_class: dict[tuple[int, str], AlikeMembers] = {}
    """By identity of the class key, of which there are few objects: to hash it takes long."""
    for place, record in enumerate(members):
        facts, request = record.facts, record.request
        key = facts.uid if record.class_key is None else record.class_key
        task = facts.task if by_task and request is not None and len(request.cards) > 1 else ""
        alike = by_class.get((id(key), task))
        if alike is None:
            alike = found.setdefault((without_task(key), task), AlikeMembers(record, []))
            if len(found) > most:
                break
            by_class[id(key), task] = alike
        alike.places.append(place)
    return list(found.values())
