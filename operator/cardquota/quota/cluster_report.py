"""What people see of the whole cluster: the totals of each card over all queues (section 6).

All amounts are cards. A queue's policy says whose use it is: `Deny` on-line, `Gate` off-line. Where
a queue leaves the policy to each pod's controller, what it holds is told apart no further: that
would take a look at every pod.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from .account import OUTSIDE, Account
from .ledger import Ledger
from .vocabulary import CPU, MEMORY, Policy


class Use(StrEnum):
    """Whose use it is."""

    ONLINE = Policy.DENY.value
    """Of queues whose policy is Deny."""
    OFFLINE = Policy.GATE.value
    """Of queues whose policy is Gate."""
    BY_CONTROLLER = "ByController"
    """Of queues that leave it to the pods."""
    NO_QUEUE = "NoQueue"
    """Of pods outside every queue."""


@dataclass(slots=True)
class Part:
    """What the queues of one use have of a card."""

    allocated: int = 0
    guarantee: int = 0
    """Their quotas: what a queue may hold of a card is what it is guaranteed."""


@dataclass(slots=True)
class ClusterCard:
    """One card in the whole cluster."""

    allocatable: int = 0
    """What the nodes offer now."""
    parts: dict[Use, Part] = field(default_factory=dict)
    """By use; only where there is a quota or something is counted."""

    @property
    def allocated(self) -> int:
        """Bound and not finished, outside every queue too."""
        return sum(part.allocated for part in self.parts.values())

    @property
    def guarantee(self) -> int:
        """All quotas together."""
        return sum(part.guarantee for part in self.parts.values())

    @property
    def oversold(self) -> int:
        """What all quotas together exceed the cluster by (Q3)."""
        return max(0, self.guarantee - self.allocatable)


def cluster_report(ledger: Ledger) -> dict[str, ClusterCard]:
    """Every card that a node offers, that has a quota or is in use. Costs O(rows of all queues)."""
    found = {card: ClusterCard(total) for card, total in ledger.nodes.totals().items()}
    for account in ledger.accounts():
        use = use_of(account)
        for name in cards_of(account):
            card = found.setdefault(name, ClusterCard())
            part = card.parts.setdefault(use, Part())
            part.allocated += account.row(name).allocated
            part.guarantee += account.quota.get(name, 0)
    return found


def cards_of(account: Account) -> Iterator[str]:
    """The cards of which an account has a quota or counts something, sorted."""
    yield from sorted({*account.quota, *account.rows} - {CPU, MEMORY})


def use_of(account: Account) -> Use:
    """Whose use a queue's is."""
    if account.name == OUTSIDE:
        return Use.NO_QUEUE
    policy = account.facts.policy if account.facts else None
    return Use.BY_CONTROLLER if policy is None else Use(policy.value)
