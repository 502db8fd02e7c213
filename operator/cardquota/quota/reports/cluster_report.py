"""What people see of the whole cluster: the totals of each card over all queues (section 6).

All amounts are cards. The policy tells the use: `Deny` is on-line, `Gate` off-line. If a queue
leaves the policy to each pod's controller, what its pods hold is split by that; its quota is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from ..accounts.account import OUTSIDE, AccountReader, Row
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..steps import Steps
from ..vocabulary import Policy


class Use(StrEnum):
    """Which use holds cards or has a quota."""

    ONLINE = Policy.DENY.value
    """Queues with policy Deny; of queues without a policy, pods that are refused when over."""
    OFFLINE = Policy.GATE.value
    """Queues with policy Gate; of queues without a policy, pods that wait when over."""
    BY_CONTROLLER = "ByController"
    """The quotas of queues without a policy."""
    NO_QUEUE = "NoQueue"
    """Pods outside every queue."""


@dataclass(slots=True)
class Part:
    """What one use has of a card."""

    allocated: int = 0
    guarantee: int = 0
    """The quotas: a queue is guaranteed what it may hold of a card."""


@dataclass(slots=True)
class ClusterCard:
    """One card in the whole cluster."""

    allocatable: int = 0
    """What the nodes offer now."""
    parts: dict[Use, Part] = field(default_factory=dict)
    """By use; only uses with a quota or with counted pods."""

    def part(self, use: Use) -> Part:
        """The part of a use, to count into."""
        return self.parts.setdefault(use, Part())

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

    def oversold_by_use(self) -> dict[Use, int]:
        """`oversold` by use. The cluster's cards go to on-line quotas first, which cannot wait, and
        to off-line quotas last. So on-line is oversold only if on-line quotas alone exceed them.
        """
        found: dict[Use, int] = {}
        left = self.allocatable
        for use in (Use.ONLINE, Use.BY_CONTROLLER, Use.OFFLINE):
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
            if use is not Use.BY_CONTROLLER:
                card.part(use).allocated += row.allocated
                continue
            for own, amount in _by_controller(row):
                card.part(own).allocated += amount
    return found


def _by_controller(row: Row) -> Iterator[tuple[Use, int]]:
    """What the pods of a queue without a policy hold, by use; without zeros."""
    parts = ((Use.ONLINE, row.allocated - row.offline), (Use.OFFLINE, row.offline))
    return ((use, amount) for use, amount in parts if amount)


def offline_of(account: AccountReader, row: Row) -> int:
    """The cards of a row of a queue that are allocated off-line: by the queue's policy, else by
    what each pod's controller makes of it.
    """
    match use_of(account):
        case Use.OFFLINE:
            return row.allocated
        case Use.BY_CONTROLLER:
            return row.offline
        case _:
            return 0


def cards_of(ledger: LedgerReader, account: AccountReader) -> tuple[list[str], list[str]]:
    """The cards of which an account has a quota or counts something: the known cards, sorted, and
    the names that no node, quota or status knows, of which there may be as many as pods. A fraction
    of a microsecond for each.
    """
    named = dict.fromkeys(account.quota)
    made_up: list[str] = []
    for name in account.rows:
        if name in named or not is_card(name):
            continue
        if ledger.is_known(name):
            named[name] = None
        else:
            made_up.append(name)
    return sorted(named), made_up


def use_of(account: AccountReader) -> Use:
    """The use that a queue's quota belongs to."""
    if account.name == OUTSIDE:
        return Use.NO_QUEUE
    policy = account.facts.policy if account.facts else None
    return Use.BY_CONTROLLER if policy is None else Use(policy.value)
