"""Whose gate opens next: the order of release, queue by queue (E6).

Within a queue the lanes are tried in the order of their first pods. A lane that does not fit lets
the others pass (`dequeueStrategy: traverse`, Volcano's default); with `fifo` it holds up those
behind it that want one of its cards, and no others.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .account import Account
from .group_book import GroupBook
from .judgement import judge_gang, judge_presence, judge_release
from .ledger import Ledger
from .pod_record import PodRecord
from .stamp import Charge, canonical
from .verdict import Outcome, Verdict
from .vocabulary import CPU, MEMORY, Mode
from .waiting import Lane


@dataclass(slots=True, frozen=True)
class Opening:
    """Gates that open together, each with the cards its pod is charged for.

    With `gang` the group's minimum must be reserved first (T2); `reservation` is how much.
    """

    queue: str
    pods: tuple[tuple[PodRecord, Charge], ...]
    gang: GroupBook | None = None
    reservation: Charge = ()


@dataclass(slots=True, frozen=True)
class Refusal:
    """Pods that wait on, have not been told why, and why."""

    pods: tuple[PodRecord, ...]
    verdict: Verdict
    gang: GroupBook | None = None


def queue_order(ledger: Ledger, queues: Iterable[str]) -> list[str]:
    """Queues by priority, then by how little of what they deserve they hold, then by name."""

    def place(queue: str) -> tuple[int, int, str]:
        account = ledger.account(queue)
        if account is None or account.facts is None:
            return (0, 0, queue)
        return (-account.facts.priority, share(account), queue)

    return sorted(queues, key=place)


def share(account: Account) -> int:
    """The largest part of its quota that a queue holds of any card, in millionths."""
    held = ((account.row(card).allocated, quota) for card, quota in account.quota.items())
    return max((1_000_000 * allocated // quota for allocated, quota in held if quota), default=0)


def openings(ledger: Ledger, queue: str) -> Iterator[Opening | Refusal]:
    """What can be opened in a queue now, in order, and whom to tell that they wait.

    The caller charges each opening before it asks for the next, and awaits nothing in between:
    what follows is judged on the ledger as it then is.
    """
    account = ledger.account(queue)
    if account is None:
        return
    fifo = account.facts is not None and account.facts.fifo
    blocked: set[str] = set()
    heap = [(lane.turns[0], i, lane) for i, lane in enumerate(account.waiting.lanes.values())]
    heapq.heapify(heap)
    while heap:
        _, number, lane = heapq.heappop(heap)
        first = ledger.pods[lane.turns[0][-1]]
        cards = set(first.request.cards) if first.request else set()
        if cards & blocked:
            continue
        found = _try(ledger, lane, first)
        if isinstance(found, Opening):
            yield found
            if lane.turns:
                heapq.heappush(heap, (lane.turns[0], number, lane))
            continue
        if fifo and found.verdict.outcome is not Outcome.NEVER:
            blocked |= cards  # what can never fit holds up nobody
        if found.pods:
            yield found


def _try(ledger: Ledger, lane: Lane, first: PodRecord) -> Opening | Refusal:
    if ledger.mode_in(first.facts.namespace) is not Mode.ENFORCE:
        return Opening(first.queue, ((first, _cards_charged(first)),))
    book = ledger.groups.get(first.facts.group) if first.facts.group else None
    if book is not None and book.gang and not book.started:
        return _try_gang(ledger, lane, first, book)
    verdict = judge_release(ledger, first)
    if verdict.fits:
        return Opening(first.queue, ((first, verdict.cards),))
    return _refusal(ledger, lane, verdict, None)


def _cards_charged(record: PodRecord) -> Charge:
    """The cards a gated pod is counted with; in audit mode it goes through with those."""
    return tuple((name, n) for name, n in record.charge if name not in (CPU, MEMORY))


def _try_gang(ledger: Ledger, lane: Lane, first: PodRecord, book: GroupBook) -> Opening | Refusal:
    missing = judge_presence(ledger, first)
    if missing is not None:
        return _refusal(ledger, lane, missing, book)
    need = book.missing
    if len(lane.turns) < need:
        # All exist, but not all may be tried: some are on their way out, or failed just now.
        return Refusal((), Verdict(Outcome.UNSEEN, first.queue), book)
    members = [ledger.pods[turn[-1]] for turn in lane.turns[:need]]
    verdict, cards = judge_gang(ledger, members)
    if not verdict.fits:
        return _refusal(ledger, lane, verdict, book)
    total: dict[str, int] = {}
    for record, chosen in zip(members, cards, strict=True):
        for dimension, amount in ledger.charge_of(record, chosen):
            total[dimension] = total.get(dimension, 0) + amount
    for record in book.members.values():
        if record.held:
            for dimension, amount in record.charge:
                total[dimension] = total.get(dimension, 0) + amount
    return Opening(
        members[0].queue, tuple(zip(members, cards, strict=True)), book, canonical(total)
    )


def _refusal(ledger: Ledger, lane: Lane, verdict: Verdict, gang: GroupBook | None) -> Refusal:
    pods = tuple(ledger.pods[uid] for uid in lane.to_tell(verdict.reason))
    return Refusal(pods, verdict, gang)
