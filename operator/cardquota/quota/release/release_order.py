"""The order in which queues are looked at (E6, W2)."""

import heapq
from collections.abc import Iterable
from typing import Final

from ..accounts.account import AccountReader
from ..ledger.ledger_reader import LedgerReader

_SLACK: Final = 64
"""Outdated entries that are allowed beyond twice the number of valid ones."""
_BEYOND: Final = 2**128
"""The share of who holds something and deserves nothing: above all others."""


_Place = tuple[bool, int, int, str]
"""Where a queue stands (E6), the smallest first: whether it is overused, so that it goes after all
others (W2), also of a lower priority; its negated priority; its share; its name."""


class QueueOrder:
    """Queues that are to be looked at, one after the other. Some may be added meanwhile.

    They go in rounds. A queue that is added again, because it was not finished or has news, gets
    its next turn after all others that wait. Within a round each stands at the place that it had
    when it was last added. Bounded by the number of existing queues.
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._unplaced: set[str] = set()
        self._places: dict[str, tuple[int, _Place]] = {}
        self._heap: list[tuple[int, _Place]] = []
        """Entries of queues that now have another place, or none, are skipped."""
        self._round = 0
        self._had_turn: set[str] = set()
        """Queues that had a turn in this round."""

    def __len__(self) -> int:
        return len(self._unplaced) + len(self._places)

    def add(self, queues: Iterable[str]) -> None:
        """Add queues to be looked at. A queue that was already added gets a new place."""
        self._unplaced.update(queues)

    def place_one(self) -> bool:
        """Compute the place of one added queue, or the shares of a card that it needs for the first
        time. Returns whether there was any.

        Costs by the cards of its quota, and of oversold ones by the queues that have them: some
        microseconds each. So many queues are placed in portions.
        """
        if not self._unplaced:
            return False
        queue = self._unplaced.pop()
        account, shares = self._ledger.account(queue), self._ledger.shares
        new = next(filter(shares.is_new, _cards_asked_for(account)), None) if account else None
        if account is not None and new is not None:
            shares.by_request(account, new)
            self._unplaced.add(queue)
            return True
        place = self._round + (queue in self._had_turn), _place(self._ledger, queue)
        if self._places.get(queue) != place:
            self._places[queue] = place
            heapq.heappush(self._heap, place)
            if len(self._heap) > 2 * len(self._places) + _SLACK:
                self._heap = sorted(self._places.values())
        return True

    def take(self) -> str | None:
        """Remove and return the first queue that has a place; None if there is none."""
        while self._heap:
            round_, place = heapq.heappop(self._heap)
            queue = place[-1]
            if self._places.get(queue) == (round_, place):
                del self._places[queue]
                if round_ > self._round:
                    self._round = round_
                    self._had_turn.clear()
                self._had_turn.add(queue)
                return queue
        self._had_turn.clear()
        return None


def _place(ledger: LedgerReader, queue: str) -> _Place:
    account = ledger.account(queue)
    if account is None or account.facts is None:
        return False, 0, 0, queue
    overused, share = usage(ledger, account)
    return overused, -account.facts.priority, share, queue


def usage(ledger: LedgerReader, account: AccountReader) -> tuple[bool, int]:
    """How much a queue holds of what it deserves: whether it holds all of something that its
    waiting pods ask for, or more (W2); and the largest part that it holds, of any dimension that
    its waiting pods or groups ask for, in millionths (E6).

    Of cards in the quota what a queue deserves by what all ask for now (W1); of cpu and memory
    its `spec.deserved`, if it has one. Cards are not rounded before they are compared: a small
    quota might then deserve none. What it holds of anything that nobody there waits for does not
    count: who has all of one model is not behind for another one.
    """
    waits = {name for name, row in account.rows.items() if row.waiting}
    asked = waits | account.pending.asked_by_groups.keys()
    by_request = ledger.shares.by_request
    deserved = [(card, by_request(account, card)) for card in _cards_asked_for(account)]
    if account.facts is not None and account.facts.deserved:
        of_queue = account.facts.deserved.items()
        deserved += [(name, (most, 1)) for name, most in of_queue if name in asked]
    overused, share = False, 0
    for dimension, (numerator, denominator) in deserved:
        row = account.row(dimension)
        held = row.allocated * denominator
        overused = overused or (held >= numerator and dimension in waits)
        if held:
            share = max(share, 1_000_000 * held // numerator if numerator else _BEYOND)
    return overused, share


def _cards_asked_for(account: AccountReader) -> list[str]:
    """By pods or groups that wait, as far as there is a quota of them."""
    rows, groups, quota = account.rows, account.pending.asked_by_groups, account.quota
    cards = [card for card in account.cards if quota[card]]
    return [card for card in cards if card in groups or (card in rows and rows[card].waiting)]
