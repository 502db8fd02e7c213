"""What the page shows at a glance: every queue with its busiest cards, and the cluster's cards.

Made of the reports that the status of queues is made of. Bounded, whatever is in the cluster.
"""

from heapq import nsmallest
from typing import Final

from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.objects.meta import Wire
from ..quota.reports.cluster_report import ClusterCard, cluster_report
from ..quota.reports.queue_report import CardRow, QueueReport, columns, report
from ..quota.steps import Steps
from ..quota.vocabulary import GPU_MEMORY
from ..quota.words import show

MOST_QUEUES: Final = 2_000
"""Queues that are told, by name. The others are counted."""
MOST_CARDS: Final = 6
"""Cards of a queue that are told: the detail has the others."""
MOST_CLUSTER_CARDS: Final = 100
"""Cards of the cluster that are told."""
MOST_NODES: Final = 200
"""Nodes that are told."""
_LONGEST: Final = 160
"""Characters of a card's name, and of what is wrong with a queue."""


class QueueCard(Wire):
    """One card of a queue, in cards."""

    name: str
    quota: int = 0
    allocated: int = 0
    inqueue: int = 0
    requested: int = 0
    borrowed: int = 0
    """What it holds beyond what it deserves."""


class QueueLine(Wire):
    """One queue."""

    name: str
    state: str
    cards: tuple[QueueCard, ...]
    """The busiest."""
    more_cards: int = 0
    held: int = 0
    """Cards that are charged, of all its cards; card memory, which is in MiB or GiB, not."""
    waiting: int = 0
    """Pods that wait at their gate."""
    oldest: str = ""
    """When the first of them was created."""
    note: str = ""
    """What is wrong with the queue."""


class ClusterCardLine(Wire):
    """One card of the cluster, in cards."""

    name: str
    allocatable: int = 0
    allocated: int = 0
    free: int = 0
    quota: int = 0
    """All quotas together."""


class Overview(Wire):
    """All that is seen at a glance. Parts of it may be some milliseconds apart."""

    time: str
    leader: str
    """The term under which a replica leads; empty if none does."""
    queues: tuple[QueueLine, ...]
    more_queues: int
    cards: tuple[ClusterCardLine, ...]
    more_cards: int


def overview(ledger: LedgerReader, *, time: str, leader: str) -> Steps[Overview]:
    """In short steps, each of one queue. `time`: RFC 3339."""
    names = sorted(one.name for one in ledger.accounts() if one.facts is not None)
    lines = []
    for name in names[:MOST_QUEUES]:
        yield from ledger.shares.refresh()
        found = report(ledger, name)
        if found is not None:
            lines.append(_line(found))
        yield
    totals = yield from cluster_report(ledger)

    def last_memory(one: tuple[str, ClusterCard]) -> tuple[bool, int, str]:
        """Whose numbers are no cards, but MiB or GiB."""
        return ledger.catalog.resource(one[0]) == GPU_MEMORY, -one[1].allocatable, one[0]

    first = nsmallest(MOST_CLUSTER_CARDS, totals.items(), key=last_memory)
    cards = tuple(
        ClusterCardLine(
            name=show(name, most=_LONGEST),
            allocatable=card.allocatable,
            allocated=card.allocated,
            free=ledger.nodes.free.total(name),
            quota=card.guarantee,
        )
        for name, card in first
    )
    return Overview(
        time=time,
        leader=show(leader, most=_LONGEST),
        queues=tuple(lines),
        more_queues=len(names) - len(lines),
        cards=cards,
        more_cards=len(totals) - len(cards),
    )


def _line(found: QueueReport) -> QueueLine:
    def order(row: CardRow) -> tuple[bool, int, int, str]:
        return row.resource == GPU_MEMORY, -row.requested, -row.quota, row.name

    first = nsmallest(MOST_CARDS, found.cards, key=order)
    return QueueLine(
        name=found.name,
        state=found.state,
        cards=tuple(map(_card, first)),
        more_cards=len(found.cards) - len(first),
        held=sum(row.charged for row in found.cards if row.resource != GPU_MEMORY),
        waiting=found.waiting.pods,
        oldest=found.waiting.oldest,
        note=show(columns(found).note, most=_LONGEST),
    )


def _card(row: CardRow) -> QueueCard:
    return QueueCard(
        name=show(row.name, most=_LONGEST),
        quota=row.quota,
        allocated=row.allocated,
        inqueue=row.inqueue,
        requested=row.requested,
        borrowed=row.borrowed or 0,
    )
