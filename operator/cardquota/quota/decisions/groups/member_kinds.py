"""Members of a gang that are equal in all that is judged: they are judged once."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ...assignment.claim import Claim, claim_of
from ...ledger.class_key import without_task
from ...pods.pod_record import PodRecord
from ...selectors.taints import Tolerations


class Kind(NamedTuple):
    """Pods that are equal in all that is judged."""

    first: PodRecord
    places: list[int]
    """The place of each among all that are judged together, in order."""

    @property
    def queue(self) -> str:
        """Whose quota they use."""
        return self.first.queue

    @property
    def number(self) -> int:
        """How many pods there are."""
        return len(self.places)

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards of which each pod may use one."""
        request = self.first.request
        return request.cards if request is not None and request.amount else ()

    @property
    def amount(self) -> int:
        """How many cards each pod asks for."""
        return self.first.request.amount if self.first.request else 0

    @property
    def claim(self) -> Claim:
        """The claim of each pod. Not for pods that ask for no card."""
        return claim_of(self.cards, self.amount)


_KindKey = tuple[int, bytes, int, str]
"""The identity of a class; and, of pods with a choice of cards alone, the selector and the number
of the tolerations; and the task, if that matters.
"""


def kinds_of(members: Sequence[PodRecord], most: int) -> list[Kind]:
    """Members by kind, in the order of the first of each. Stops after `most` + 1 kinds.

    Pods of one class are equal, except for the nodes that pods with a choice of cards may use. A
    kind of those is of one task, as far as that makes no more than `most` kinds; for all others
    their task does not matter.
    """
    kinds = _kinds_of(members, most, by_task=True)
    return kinds if len(kinds) <= most else _kinds_of(members, most, by_task=False)


def _kinds_of(members: Sequence[PodRecord], most: int, *, by_task: bool) -> list[Kind]:
    found: dict[_KindKey, Kind] = {}
    same: dict[Tolerations, int] = {}
    """By tolerations: one number for all that are equal."""
    alike: dict[Hashable, Hashable] = {}
    whatever_task: dict[int, int] = {}
    """By identity of a class key: that of the first one that differs in its task at most."""
    for place, record in enumerate(members):
        request, facts = record.request, record.facts
        pod_class = id(record if record.class_key is None else record.class_key)
        if facts.task:
            if pod_class not in whatever_task:
                rest = without_task(record.class_key)
                whatever_task[pod_class] = id(alike.setdefault(rest, rest))
            pod_class = whatever_task[pod_class]
        if request is not None and len(request.cards) > 1:
            tolerations = same.setdefault(facts.tolerations, len(same))
            key = pod_class, facts.selector, tolerations, facts.task if by_task else ""
        else:
            key = pod_class, b"", 0, ""
        kind = found.get(key)
        if kind is None:
            kind = found[key] = Kind(record, [])
            if len(found) > most:
                break
        kind.places.append(place)
    return list(found.values())
