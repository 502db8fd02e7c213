"""What people see of a queue: the rows of its status, computed from the ledger (section 6);
and what they see that a PodGroup asks for.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Final, NamedTuple

from ..accounts.account import OUTSIDE, AccountReader, Borrowed, OverQuota
from ..amounts import Amount, cpu_quantity, is_card, memory_quantity
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import report_messages
from ..vocabulary import COMPUTE_RESOURCES, CPU, GPU_MEMORY, Condition, Policy, QueueState
from ..words import amount_text, amount_texts, first_of, read_moment, show

MOST_COLUMNS: Final = 3
"""Card models that one line of `kubectl get` shows; the others are counted."""
_MOST_OF_CHOICE: Final = 2
"""Cards of a choice that are named."""
_MOST_KINDS: Final = 256
"""Different requests of waiting members that are added up."""


class QueueUse(StrEnum):
    """Which use holds cards or has a quota."""

    ONLINE = Policy.DENY.value
    """Queues with policy Deny; of queues without a policy, pods that are refused when over."""
    OFFLINE = Policy.GATE.value
    """Queues with policy Gate; of queues without a policy, pods that wait when over."""
    BY_CONTROLLER = "ByController"
    """The quotas of queues without a policy."""
    NO_QUEUE = "NoQueue"
    """Pods outside every queue."""


@dataclass(slots=True, frozen=True)
class CardRow:
    """One card of a queue, in cards."""

    name: str
    resource: str | None = None
    quota: int = 0
    allocated: int = 0
    inqueue: int = 0
    requested: int = 0
    elastic: int = 0
    guarantee: int = 0
    deserved: int = 0
    offline: int = 0
    """The part of allocated that is off-line use (section 6); the rest is on-line."""
    surge: int | None = None
    """What rolling updates may borrow beyond the quota (R6); None where they may not."""
    borrowed: int | None = None
    """What it holds beyond what it deserves (L1). None where that is nothing, and rolling updates
    may not borrow."""

    @property
    def charged(self) -> int:
        """What counts against the quota."""
        return self.allocated + self.inqueue


@dataclass(slots=True, frozen=True)
class ResourceRow:
    """Cpu in milli-cores, or memory in bytes."""

    name: str
    quota: int | None
    """None: not limited."""
    allocated: int
    inqueue: int
    requested: int
    elastic: int
    guarantee: int | None = None
    deserved: int | None = None
    """These two as its spec says; None: it does not."""

    @property
    def left(self) -> int | None:
        """Of the quota."""
        return None if self.quota is None else max(0, self.quota - self.allocated - self.inqueue)

    def text(self, amount: int | None) -> str | None:
        """As a quantity."""
        if amount is None:
            return None
        return cpu_quantity(amount) if self.name == CPU else memory_quantity(amount)

    def texts(self) -> dict[str, Any]:
        """All of it, amounts as quantities."""
        found = ((key, getattr(self, key)) for key in self.__dataclass_fields__ if key != "name")
        return {"name": self.name, **{key: self.text(amount) for key, amount in found}}


class Oversold(NamedTuple):
    """A card of which all quotas together exceed the cluster (Q3)."""

    card: str
    quotas: int
    """All of them together, cards."""
    total: int
    """Of the cluster, cards."""


class Waiting(NamedTuple):
    """The pods that wait at their gate (T7)."""

    pods: int
    oldest: str
    """When the first of them was created, RFC 3339; empty where none waits."""


class ViewCondition(NamedTuple):
    """A condition of a queue, without times."""

    type: Condition
    holds: bool
    reason: str
    message: str


@dataclass(slots=True, frozen=True)
class QueueReport:
    """All numbers of a queue at one moment: its status, metrics and answers come from it."""

    name: str
    uid: str
    generation: int
    state: str
    state_is_ours: bool
    cards: tuple[CardRow, ...]
    resources: tuple[ResourceRow, ...]
    over: tuple[OverQuota, ...]
    lends: bool
    """Whether rolling updates may borrow (R6)."""
    borrowed: tuple[Borrowed, ...]
    oversold: tuple[Oversold, ...]
    """Of its cards."""
    quota_problem: str
    """Why the stored quota cannot be read and an older one is in force (Q4); empty if it can."""
    has_quota: bool
    """Whether there is an older one: any row in force."""
    spec_problem: str
    """Why a limit, which then counts as 0, cannot be read; empty if all can."""
    waiting: Waiting

    @property
    def conditions(self) -> tuple[ViewCondition, ...]:
        """Whether its quota can be read, is exceeded, oversold, and lent to rolling updates."""
        wrong = ""
        if self.quota_problem:
            wrong = report_messages.quota_unreadable(self.quota_problem, kept=self.has_quota)
        elif self.spec_problem:
            wrong = report_messages.limit_unreadable(self.spec_problem)
        reason = "Unreadable" if wrong else "Readable"
        valid = ViewCondition(Condition.QUOTA_VALID, not wrong, reason, wrong)
        over = report_messages.over_quota(self.name, self.over, self.state) if self.over else ""
        oversold = [report_messages.oversold(*found) for found in self.oversold]
        borrowed = [report_messages.borrowed(self.name, *one) for one in self.borrowed]
        told = [
            (Condition.OVER_QUOTA, over, "OverQuota", "WithinQuota"),
            (Condition.OVERSOLD, first_of(oversold, "; "), "QuotasExceedCluster", "ClusterHasAll"),
            (Condition.BORROWED, first_of(borrowed, "; "), "RollingUpdate", "NothingBorrowed"),
        ]
        return valid, *(
            ViewCondition(type_, bool(text), holds if text else holds_not, text)
            for type_, text, holds, holds_not in told[: 3 if self.lends else 2]
        )


def report(ledger: LedgerReader, queue: str) -> QueueReport | None:
    """The numbers of a queue now, or None if it does not exist.

    Many sharers of many cards take long, unless `Shares.refresh` came before.
    """
    account = ledger.account(queue)
    if account is None or account.facts is None:
        return None
    facts = account.facts
    return QueueReport(
        name=queue,
        uid=facts.uid,
        generation=facts.generation,
        state=facts.state,
        state_is_ours=facts.state_is_ours,
        cards=card_rows(ledger, account),
        resources=resource_rows(account),
        over=tuple(account.over()),
        lends=bool(facts.surge),
        borrowed=tuple(account.borrowed()),
        oversold=tuple(
            Oversold(card, quotas, total)
            for card in sorted(account.quota)
            if (quotas := ledger.quotas.of(card)) > (total := ledger.nodes.total(card))
        ),
        quota_problem=facts.quota_problem,
        has_quota=bool(account.quota),
        spec_problem=facts.spec_problem,
        waiting=_waiting(account),
    )


def _waiting(account: AccountReader) -> Waiting:
    oldest = account.pending.waits.oldest or ""
    # Of a time that is none, the API server would refuse the whole status.
    return Waiting(len(account.pending), "" if read_moment(oldest) is None else oldest)


def card_rows(ledger: LedgerReader, account: AccountReader) -> tuple[CardRow, ...]:
    """The cards of which there is a quota, or anything is held or asked for, by name. A name that
    only waiting pods have made up is left out: each would be a row of a bounded status, and the pod
    cannot go until it is corrected (P8).
    """
    named, made_up = cards_of(ledger, account)
    rows = ((name, account.row(name)) for name in made_up)
    held = [name for name, row in rows if row.charged or row.elastic]
    names = sorted([*named, *held]) if held else named
    return tuple(_card_row(ledger, account, name) for name in names)


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


def use_of(account: AccountReader) -> QueueUse:
    """The use that a queue's quota belongs to."""
    if account.name == OUTSIDE:
        return QueueUse.NO_QUEUE
    policy = account.facts.policy if account.facts else None
    return QueueUse.BY_CONTROLLER if policy is None else QueueUse(policy.value)


def _card_row(ledger: LedgerReader, account: AccountReader, name: str) -> CardRow:
    row, quota, surge = account.row(name), account.quota.get(name, 0), account.lent(name)
    borrowed = ledger.shares.borrowed(account, name)
    recorded = account.facts.recorded.get(name) if account.facts else None
    # By the queue's policy, else by what each pod's controller makes of it.
    by_use = {QueueUse.OFFLINE: row.allocated, QueueUse.BY_CONTROLLER: row.offline}
    return CardRow(
        name=name,
        resource=_resource(ledger, name) or (recorded[0] or None if recorded else None),
        quota=quota,
        allocated=row.allocated,
        inqueue=row.inqueue,
        requested=row.requested,
        elastic=row.elastic,
        guarantee=quota,
        deserved=ledger.shares.shown(account.name, name),
        offline=by_use.get(use_of(account), 0),
        surge=surge or None,
        borrowed=borrowed if borrowed or surge else None,
    )


def _resource(ledger: LedgerReader, card: str) -> str | None:
    """The known resource name of a card. A name that only pods hold counts if a vendor row has it,
    or if it is that of card memory: what a status says counts as a card for every queue.
    """
    catalog = ledger.catalog
    held = catalog.held_as(card)
    by_itself = held == GPU_MEMORY or bool(held and ledger.vendors.owner(held))
    return catalog.resource(card) or (held if by_itself else None)


def resource_rows(account: AccountReader) -> tuple[ResourceRow, ...]:
    """Cpu and memory of a queue."""
    facts, found = account.facts, []
    for name in COMPUTE_RESOURCES:
        row = account.row(name)
        amounts = (row.allocated, row.inqueue, row.requested, row.elastic)
        guarantee = facts.guarantee.get(name) if facts else None
        deserved = facts.deserved.get(name) if facts else None
        found.append(ResourceRow(name, account.limit(name), *amounts, guarantee, deserved))
    return tuple(found)


@dataclass(slots=True, frozen=True)
class Columns:
    """What `kubectl get queues` prints: per model, never a sum over models."""

    cards: str
    inqueue: str
    elastic: str
    requested: str
    cpu: str
    memory: str
    note: str
    """What is wrong with the queue; empty if nothing is."""


_Cell = tuple[int, str, str]
"""What a column says of one model: cards, to be sorted by; the model; the text."""


def columns(found: QueueReport) -> Columns:
    """The lines of text. The busiest models come first, then the number of the rest."""
    cpu, memory = map(_of_limit, found.resources)
    elastic = (
        f"{row.name} {amount_text(row.name, row.elastic)}" for row in found.resources if row.elastic
    )
    return Columns(
        cards=_line((r.charged, r.name, f"{r.allocated}/{r.quota}") for r in found.cards),
        inqueue=_line(_amounts((r.name, r.inqueue) for r in found.cards)),
        elastic=_line(_amounts((r.name, r.elastic) for r in found.cards), elastic),
        requested=_line(_amounts((r.name, r.requested) for r in found.cards)),
        cpu=cpu,
        memory=memory,
        note="; ".join(_notes(found)),
    )


def _amounts(amounts: Iterable[Amount]) -> Iterator[_Cell]:
    return ((amount, card, str(amount)) for card, amount in amounts if amount)


def _notes(found: QueueReport) -> Iterator[str]:
    """What keeps the queue from taking what it could, the gravest first. Each names as many cards
    as a column, then the number of the rest.
    """
    if found.quota_problem:
        yield "quota unreadable"
    if found.spec_problem:
        yield "limit unreadable"
    if found.state != QueueState.OPEN:
        yield found.state.lower()
    if found.over:
        yield f"over quota: {_first([_over_text(*one) for one in found.over])}"
    if found.oversold:
        yield f"oversold: {_first([show(one.card) for one in found.oversold])}"


def _over_text(dimension: str, charged: int, limit: int) -> str:
    held, allowed = amount_texts(dimension, charged, limit)
    return f"{show(dimension)} {held}/{allowed}"


def _first(texts: list[str]) -> str:
    more = len(texts) - MOST_COLUMNS
    return ", ".join([*texts[:MOST_COLUMNS], *([f"+{more} more"] if more > 0 else [])])


def _line(cells: Iterable[_Cell], others: Iterable[str] = ()) -> str:
    """`others`: what follows the cards."""
    cells = sorted(cells, key=lambda cell: (-cell[0], cell[1]))
    shown = _first([f"{card} {text}" for _, card, text in cells])
    return ", ".join(filter(None, (shown, *others))) or "-"


def _of_limit(row: ResourceRow) -> str:
    of = "-" if row.quota is None else amount_text(row.name, row.quota)
    return f"{amount_text(row.name, row.allocated)}/{of}"


def group_cards(group: PodGroupState) -> str:
    """`NVIDIA-H200 4`, the row with the most cards first: what `card.request` says, else what the
    unfinished members ask for. Empty if they ask for none. Never a sum over models.

    Of a group whose members wait with very many different requests only some are added up.
    """
    asked: Counter[tuple[str, ...]] = Counter()
    if group.facts is not None and group.facts.request.cards:
        for cards, number in group.facts.request.cards:
            asked[cards] += number
    else:
        for (_, dimension), amount in group.holds.items():
            if is_card(dimension):
                asked[(dimension,)] += amount
        for (cards, amount), members in islice(group.waiting.items(), _MOST_KINDS):
            asked[cards] += amount * members
    rows = sorted(asked.items(), key=lambda row: (-row[1], row[0]))
    return _first([f"{_choice(cards)} {number}" for cards, number in rows])


def _choice(cards: tuple[str, ...]) -> str:
    named = "|".join(show(card) for card in cards[:_MOST_OF_CHOICE])
    more = len(cards) - _MOST_OF_CHOICE
    return f"{named}|+{more}" if more > 0 else named
