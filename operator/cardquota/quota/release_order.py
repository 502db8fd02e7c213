"""Whose gate opens next: the order of release, queue by queue (E6).

Within a queue the lanes are tried in the order of their first pods. A lane that does not fit lets
the others pass (`dequeueStrategy: traverse`, Volcano's default); with `fifo` it holds up those
behind it that want one of its cards, and no others.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from .account import Account
from .group_book import GroupBook
from .judgement import judge_gang, judge_member, judge_presence, judge_release
from .ledger import Ledger
from .pod_record import PodRecord
from .stamp import Charge, canonical
from .verdict import Outcome, Verdict
from .vocabulary import CPU, MEMORY, Mode
from .waiting import Lane, Turn


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
    heap = [(_turn(lanes), lanes) for lanes in _together(ledger, account.waiting.lanes.values())]
    heapq.heapify(heap)
    while heap:
        _, lanes = heapq.heappop(heap)
        cards = {card for lane in lanes for card in _cards(ledger.pods[lane.turns[0][-1]])}
        if cards & blocked:
            continue
        found = _try(ledger, lanes)
        if isinstance(found, Opening):
            yield found
            for left in ([lane] for lane in lanes if lane.turns):
                heapq.heappush(heap, (_turn(left), left))
            continue
        if fifo and found.verdict.outcome is Outcome.WAITS:
            blocked |= cards  # what can never fit, or waits for something else, holds up nobody
        if found.pods:
            yield found


def _together(ledger: Ledger, lanes: Iterable[Lane]) -> Iterator[list[Lane]]:
    """Each lane by itself, but those of a gang that has not started as one."""
    gangs: dict[str, list[Lane]] = {}
    for lane in lanes:
        if lane.gang and not ledger.groups[lane.gang].started:
            gangs.setdefault(lane.gang, []).append(lane)
        else:
            yield [lane]
    yield from gangs.values()


def _turn(lanes: list[Lane]) -> Turn:
    return min(lane.turns[0] for lane in lanes)


def _cards(record: PodRecord) -> tuple[str, ...]:
    return record.request.cards if record.request else ()


def _try(ledger: Ledger, lanes: list[Lane]) -> Opening | Refusal:
    first = ledger.pods[_turn(lanes)[-1]]
    if ledger.mode_in(first.facts.namespace) is not Mode.ENFORCE:
        return Opening(first.queue, ((first, _cards_charged(first)),))
    gang = lanes[0].gang
    if gang and not ledger.groups[gang].started:
        return _try_gang(ledger, lanes, first, ledger.groups[gang])
    verdict = judge_release(ledger, first)
    if verdict.fits:
        return Opening(first.queue, ((first, verdict.cards),))
    return _refusal(ledger, lanes, verdict, None)


def _cards_charged(record: PodRecord) -> Charge:
    """The cards a gated pod is counted with; in audit mode it goes through with those."""
    return tuple((name, n) for name, n in record.charge if name not in (CPU, MEMORY))


def _try_gang(
    ledger: Ledger, lanes: list[Lane], first: PodRecord, book: GroupBook
) -> Opening | Refusal:
    missing = judge_presence(ledger, first)
    if missing is not None:
        return _refusal(ledger, lanes, missing, book)
    turns = heapq.merge(*(lane.turns for lane in lanes))
    members = [ledger.pods[turn[-1]] for turn in islice(turns, book.missing)]
    if len(members) < book.missing:
        # All exist, but not all may be tried: some are on their way out, or failed just now.
        return Refusal((), Verdict(Outcome.UNSEEN, first.queue), book)
    verdict, cards = judge_gang(ledger, members)
    chosen = list(zip(members, cards, strict=False))
    if not verdict.fits and book.missing < book.minimum:
        chosen = _others(ledger, lanes, book.missing)
    if len(chosen) < book.missing:
        return _refusal(ledger, lanes, verdict, book)
    total: dict[str, int] = {}
    for record, card in chosen:
        for dimension, amount in ledger.charge_of(record, card):
            total[dimension] = total.get(dimension, 0) + amount
    for record in book.members.values():
        if record.held:
            for dimension, amount in record.charge:
                total[dimension] = total.get(dimension, 0) + amount
    return Opening(first.queue, tuple(chosen), book, canonical(total))


def _others(ledger: Ledger, lanes: list[Lane], need: int) -> list[tuple[PodRecord, Charge]]:
    """For a minimum that lost members while it ran: any that fit, the smallest first.

    A member that took the place of a lost one must not wait behind an extra that does not fit.
    """
    beside: dict[str, int] = {}
    chosen: list[tuple[PodRecord, Charge]] = []
    for lane in sorted(lanes, key=lambda lane: (_amount(ledger, lane), lane.turns[0])):
        for turn in islice(lane.turns, need - len(chosen)):
            record = ledger.pods[turn[-1]]
            verdict = judge_member(ledger, record, beside)
            if not verdict.fits:
                break
            chosen.append((record, verdict.cards))
    return chosen


def _amount(ledger: Ledger, lane: Lane) -> int:
    request = ledger.pods[lane.turns[0][-1]].request
    return request.amount if request else 0


def _refusal(
    ledger: Ledger, lanes: list[Lane], verdict: Verdict, gang: GroupBook | None
) -> Refusal:
    uids = [uid for lane in lanes for uid in lane.to_tell(verdict.reason)]
    pods = sorted((ledger.pods[uid] for uid in uids), key=lambda record: record.turn)
    return Refusal(tuple(pods), verdict, gang)
