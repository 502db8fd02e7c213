"""How much of each card was held, in card-seconds; exact, by a sweep over all changes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....quota.ledger.ledger import Ledger
from .job_record import JobRecord


class HeldInterval(NamedTuple):
    """Cards on nodes, from `begin` up to `end`, in seconds after the first arrival."""

    begin: int
    end: int
    queue: str
    cards: int


class WaitingInterval(NamedTuple):
    """A job that has not all its nodes yet, from `begin` up to `end`."""

    begin: int
    end: int


@dataclass(slots=True, frozen=True)
class Utilisation:
    """Of one card, from the first arrival until nothing happens any more."""

    card: str
    capacity: int
    """On nodes."""
    quota: int
    """Of all queues together."""
    seconds: int
    held: int
    """Card-seconds on nodes."""
    seconds_waited: int
    """While at least one job waited for this card that started later. Who never starts is left out:
    it would wait for ever."""
    held_while_waited: int
    """Card-seconds on nodes in that time."""

    @property
    def overall(self) -> int | None:
        """In thousandths of what was there, rounded half up; None: nothing was there."""
        return _thousandths(self.held, self.capacity * self.seconds)

    @property
    def while_waited(self) -> int | None:
        """As `overall`, of the time in which jobs waited."""
        return _thousandths(self.held_while_waited, self.capacity * self.seconds_waited)


def last_moment(records: Iterable[JobRecord]) -> int:
    """The last moment at which a job came, got a node or ended: the end of the timeline."""
    found = 0
    for record in records:
        placed = record.placements[-1].at if record.placements else 0
        found = max(found, record.job.arrival, placed, record.ended or 0)
    return found


def cards_of(records: Iterable[JobRecord], ledger: Ledger) -> list[str]:
    """The cards that nodes have, a quota names, or a job could have got; by name."""
    found = set(ledger.nodes.totals())
    for account in ledger.accounts():
        found.update(card for card in account.cards if account.quota[card])
    for record in records:
        found.update(record.wanted)
    return sorted(found)


def held_intervals(records: Iterable[JobRecord], end: int) -> dict[str, list[HeldInterval]]:
    """By card. Who never ends holds until `end`."""
    found: dict[str, list[HeldInterval]] = {}
    for record in records:
        until = end if record.ended is None else record.ended
        for at, _, card, cards in record.placements:
            interval = HeldInterval(at, until, record.job.queue, cards)
            found.setdefault(card, []).append(interval)
    return found


def waiting_intervals(records: Iterable[JobRecord], end: int) -> dict[str, list[WaitingInterval]]:
    """By card: a job with a choice of cards waits for each of them."""
    found: dict[str, list[WaitingInterval]] = {}
    for record in records:
        until = end if record.started is None else record.started
        if until > record.job.arrival:
            for card in record.wanted:
                interval = WaitingInterval(record.job.arrival, until)
                found.setdefault(card, []).append(interval)
    return found


def utilisations(records: Sequence[JobRecord], ledger: Ledger) -> list[Utilisation]:
    """Of all cards, by name."""
    end = last_moment(records)
    held = held_intervals(records, end)
    started_later = waiting_intervals((one for one in records if one.started is not None), end)
    found = []
    for card in cards_of(records, ledger):
        intervals = held.get(card, [])
        seconds_waited, while_waited = _while_waited(intervals, started_later.get(card, []))
        found.append(
            Utilisation(
                card=card,
                capacity=ledger.nodes.total(card),
                quota=ledger.cluster_quota(card),
                seconds=end,
                held=sum((one.end - one.begin) * one.cards for one in intervals),
                seconds_waited=seconds_waited,
                held_while_waited=while_waited,
            )
        )
    return found


def steps(changes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """From changes of an amount, each at a moment: the moments, in order, and the amount from then
    on.
    """
    by_moment = Counter[int]()
    for at, change in changes:
        by_moment[at] += change
    amount = 0
    for at in sorted(by_moment):
        amount += by_moment[at]
        yield at, amount


def _while_waited(
    held: Sequence[HeldInterval], waiting: Sequence[WaitingInterval]
) -> tuple[int, int]:
    """Seconds in which anybody waited, and the card-seconds held in them."""
    cards, waiters = Counter[int](), Counter[int]()
    for one in held:
        cards[one.begin] += one.cards
        cards[one.end] -= one.cards
    for other in waiting:
        waiters[other.begin] += 1
        waiters[other.end] -= 1
    seconds = card_seconds = before = now = waits = 0
    for at in sorted(cards.keys() | waiters.keys()):
        if waits:
            seconds += at - before
            card_seconds += (at - before) * now
        now, waits, before = now + cards[at], waits + waiters[at], at
    return seconds, card_seconds


def _thousandths(part: int, whole: int) -> int | None:
    return (2000 * part + whole) // (2 * whole) if whole else None
