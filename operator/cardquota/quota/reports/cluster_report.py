"""What people see of the whole cluster: the totals of each card over all queues (section 6), and
who uses cards outside every queue (section 2, V5).

All amounts are cards. The policy tells the use: `Deny` is on-line, `Gate` off-line. If a queue
leaves the policy to each pod's controller, what its pods hold is split by that; its quota is not.
"""

from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import Amounts, is_card
from ..ledger.ledger_reader import LedgerReader
from ..steps import Steps
from .queue_report import QueueUse, cards_of, use_of


@dataclass(slots=True)
class UseTotals:
    """What one use has of a card."""

    allocated: int = 0
    guarantee: int = 0
    """The quotas: a queue is guaranteed what it may hold of a card."""


@dataclass(slots=True)
class ClusterCard:
    """One card in the whole cluster."""

    allocatable: int = 0
    """What the nodes offer now."""
    parts: dict[QueueUse, UseTotals] = field(default_factory=dict)
    """By use; only uses with a quota or with counted pods."""

    def part(self, use: QueueUse) -> UseTotals:
        """The part of a use, to count into."""
        return self.parts.setdefault(use, UseTotals())

    @property
    def allocated(self) -> int:
        """Bound and not finished; pods outside every queue included."""
        return sum(part.allocated for part in self.parts.values())

    @property
    def guarantee(self) -> int:
        """All quotas together."""
        return sum(part.guarantee for part in self.parts.values())

    @property
    def oversold(self) -> int:
        """The amount by which all quotas together exceed the cluster (Q3)."""
        return max(0, self.guarantee - self.allocatable)

    def oversold_by_use(self) -> dict[QueueUse, int]:
        """`oversold` by use. The cluster's cards go to on-line quotas first, which cannot wait, and
        to off-line quotas last. So on-line is oversold only if on-line quotas alone exceed them.
        """
        found: dict[QueueUse, int] = {}
        left = self.allocatable
        for use in (QueueUse.ONLINE, QueueUse.BY_CONTROLLER, QueueUse.OFFLINE):
            if use in self.parts:
                quota = self.parts[use].guarantee
                found[use] = max(0, quota - left)
                left = max(0, left - quota)
        return found


def cluster_report(ledger: LedgerReader) -> Steps[dict[str, ClusterCard]]:
    """Every card that a node offers, that has a quota or is in use. One step for each queue, by its
    rows; between two steps the ledger may change.
    """
    found = {card: ClusterCard(total) for card, total in ledger.nodes.totals().items()}
    for account in list(ledger.accounts()):
        yield
        use = use_of(account)
        named, made_up = cards_of(ledger, account)
        for name in [*named, *(name for name in made_up if account.row(name).allocated)]:
            card, row = found.setdefault(name, ClusterCard()), account.row(name)
            card.part(use).guarantee += account.quota.get(name, 0)
            if use is not QueueUse.BY_CONTROLLER:
                card.part(use).allocated += row.allocated
                continue
            # What the pods of a queue without a policy hold, by use; without zeros.
            online = row.allocated - row.offline
            for own, amount in ((QueueUse.ONLINE, online), (QueueUse.OFFLINE, row.offline)):
                if amount:
                    card.part(own).allocated += amount
    return found


MOST_PODS: Final = 3
"""Pods that are named."""


class OutsideUse(NamedTuple):
    """Pods that hold cards and are charged to no queue."""

    pods: int
    cards: Amounts
    """By card, those that are used most first."""
    first: tuple[str, ...] = ()
    """`namespace/name` of the first by name."""


def outside_use(ledger: LedgerReader, namespace: str = "") -> OutsideUse:
    """Of all pods that are released or bound; of one namespace where that is named. O(pods).

    A card that is not known, since its node is not, is left out, and so is who holds no other.
    """
    cards: dict[str, int] = {}
    names: list[str] = []
    for record in ledger.pods.values():
        facts = record.facts
        if record.queue != OUTSIDE or not record.held or namespace not in ("", facts.namespace):
            continue
        held = [(name, amount) for name, amount in record.charge if is_card(name)]
        for name, amount in held:
            cards[name] = cards.get(name, 0) + amount
        if held:
            names.append(f"{facts.namespace}/{facts.name}")
    most_first = sorted(cards.items(), key=lambda row: (-row[1], row[0]))
    return OutsideUse(len(names), dict(most_first), tuple(nsmallest(MOST_PODS, names)))
