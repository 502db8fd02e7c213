"""What people see of the whole cluster: the totals of each card over all queues (section 6).

All amounts are cards. The policy says whose use it is: `Deny` on-line, `Gate` off-line. Where a
queue leaves the policy to each pod's controller, what its pods hold is told apart by that; its
quota is theirs in common.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from ..ledger.account import OUTSIDE
from ..ledger.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..ledger.row import Row
from ..steps import Steps, to_its_end
from ..vocabulary import CPU, MEMORY, Policy


class Use(StrEnum):
    """Whose use it is."""

    ONLINE = Policy.DENY.value
    """Of queues whose policy is Deny; of the others, of the pods that are refused when over."""
    OFFLINE = Policy.GATE.value
    """Of queues whose policy is Gate; of the others, of the pods that wait when over."""
    BY_CONTROLLER = "ByController"
    """The quotas of queues that leave it to the pods."""
    NO_QUEUE = "NoQueue"
    """Of pods outside every queue."""


@dataclass(slots=True)
class Part:
    """What one use has of a card."""

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

    def part(self, use: Use) -> Part:
        """The part of a use, to count into."""
        return self.parts.setdefault(use, Part())

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

    def oversold_by_use(self) -> dict[Use, int]:
        """The same by use. What there is goes to on-line quotas first, for they cannot wait, and to
        off-line ones last: so on-line is oversold by what on-line quotas alone exceed the cluster.
        """
        found: dict[Use, int] = {}
        left = self.allocatable
        for use in (Use.ONLINE, Use.BY_CONTROLLER, Use.OFFLINE):
            if use in self.parts:
                quota = self.parts[use].guarantee
                found[use] = max(0, quota - left)
                left = max(0, left - quota)
        return found


def cluster_report(ledger: LedgerReader) -> dict[str, ClusterCard]:
    """Every card that a node offers, that has a quota or is in use. Costs O(rows of all queues)."""
    return to_its_end(cluster_report_in_steps(ledger))


def cluster_report_in_steps(ledger: LedgerReader) -> Steps[dict[str, ClusterCard]]:
    """The same, a step for each queue: between two of them the ledger may move."""
    found = {card: ClusterCard(total) for card, total in ledger.nodes.totals().items()}
    for account in list(ledger.accounts()):
        yield
        use = use_of(account)
        named, made_up = cards_of(ledger, account)
        for name in [*named, *(name for name in made_up if account.row(name).allocated)]:
            card, row = found.setdefault(name, ClusterCard()), account.row(name)
            card.part(use).guarantee += account.quota.get(name, 0)
            if use is not Use.BY_CONTROLLER:
                card.part(use).allocated += row.allocated
                continue
            for own, amount in _by_controller(row):
                card.part(own).allocated += amount
    return found


def _by_controller(row: Row) -> Iterator[tuple[Use, int]]:
    """What the pods of a queue without a policy hold; no part that is nothing."""
    parts = ((Use.ONLINE, row.allocated - row.offline), (Use.OFFLINE, row.offline))
    return ((use, amount) for use, amount in parts if amount)


def cards_of(ledger: LedgerReader, account: AccountReader) -> tuple[list[str], list[str]]:
    """The cards of which an account has a quota or counts something: those that are known, sorted;
    and the names that are known to nobody, of which there may be as many as pods. A fraction of a
    microsecond for each.
    """
    named = dict.fromkeys(account.quota)
    made_up: list[str] = []
    for name in account.rows:
        if name in named or name in (CPU, MEMORY):
            continue
        if ledger.is_known(name):
            named[name] = None
        else:
            made_up.append(name)
    return sorted(named), made_up


def use_of(account: AccountReader) -> Use:
    """Whose use a queue's quota is."""
    if account.name == OUTSIDE:
        return Use.NO_QUEUE
    policy = account.facts.policy if account.facts else None
    return Use.BY_CONTROLLER if policy is None else Use(policy.value)
