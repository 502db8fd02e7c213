"""What a plan says: for whom room is made, and which pods end for it (L3, L4)."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..amounts import Charge, is_card

MOST_VICTIMS: Final = 100
"""Pods that one plan ends. Who needs more gets no plan."""
PAUSE: Final = 3_600
"""Seconds for which nothing more is ended for one that did not start in the room made for it."""


class ReclaimWay(StrEnum):
    """Where the room comes from."""

    RECLAIM = "reclaim"
    """Other queues, which hold more than they deserve."""
    PREEMPT = "preempt"
    """The same queue, from pods of lower priority."""


@dataclass(slots=True, frozen=True)
class Beneficiary:
    """Who waits, and may have room made: a pod, or a gang as a whole."""

    way: ReclaimWay
    key: str
    """Uid of the pod; `namespace/name` of a gang's PodGroup."""
    namespace: str
    name: str
    gang: bool
    """Whether it is a PodGroup."""
    queue: str
    card: str
    """The card that it lacks: as charged; of a choice at the gate, the first for which there is a
    plan."""
    amount: int
    """How many of that card its pods without a node ask for, together."""
    priority: int
    """The lowest of these pods: one of a high class lifts no others (E6)."""
    uids: tuple[str, ...]
    """Of these pods."""

    @property
    def places(self) -> AbstractSet[tuple[str, str]]:
        """Where others may be in its way (L5): card, and queue; empty: between queues."""
        between = {(self.card, "")}
        return between | {(self.card, self.queue)} if self.way is ReclaimWay.PREEMPT else between


@dataclass(slots=True, frozen=True)
class Victim:
    """A pod that is to end."""

    uid: str
    namespace: str
    name: str
    queue: str
    charge: Charge
    """What ends with it: cards, milli-cores, bytes."""


@dataclass(slots=True, frozen=True)
class Plan:
    """Guarantees: without any one unit of its victims (an elastic member, a pod, a gang) there
    would not be enough room; no queue of a reclaim falls below what it deserves.
    """

    beneficiary: Beneficiary
    victims: tuple[Victim, ...]
    freed: int
    """Cards of the kind that the beneficiary lacks."""

    @property
    def cards(self) -> AbstractSet[str]:
        """Those that come free."""
        held = (row for victim in self.victims for row in victim.charge)
        return {card for card, amount in held if amount and is_card(card)}

    @property
    def queues(self) -> Collection[str]:
        """Of the victims, sorted."""
        return sorted({victim.queue for victim in self.victims})


class Obstacle(StrEnum):
    """Why there is no plan for somebody."""

    NOBODY_ABOVE = "NobodyAbove"
    """No other queue holds more of the card than it deserves; or nobody has a lower priority."""
    LITTLE_ABOVE = "LittleAbove"
    """Other queues hold more than they deserve, but less than would have to come free on nodes."""
    PROTECTED = "Protected"
    """Pods above the share may not end: not preemptable, of a queue that is not reclaimable, past
    admission, or in a namespace that is not enforced."""
    BUDGET = "DisruptionBudget"
    """A PodDisruptionBudget, or whoever else refuses evictions, keeps those that could end."""
    NO_ROOM_ON_NODES = "NoRoomOnNodes"
    """Whoever may end, the pods that wait would not have enough on nodes that they may use."""
    TOO_MANY = "TooMany"
    """It would take more than `MOST_VICTIMS` pods."""
    LEAVING = "Leaving"
    """Enough is being deleted already."""


@dataclass(slots=True, frozen=True)
class NoPlan:
    """For this one nothing can be ended now."""

    beneficiary: Beneficiary
    obstacle: Obstacle
    queues: tuple[str, ...] = ()
    """Whose pods the obstacle is about, sorted; at most five."""
    above: int = 0
    """`LITTLE_ABOVE`: how many of the card others hold more than they deserve, together."""
