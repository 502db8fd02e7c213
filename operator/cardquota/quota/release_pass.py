"""One pass over a queue's waiting line: what can be opened now, in order, and whom to tell (E6).

Candidates are tried in the order of their first pods. One that does not fit lets the others pass
(`dequeueStrategy: traverse`, Volcano's default); with `fifo` it holds up those behind it that want
one of its cards, and no others.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from . import messages
from .account import Account
from .candidate import Candidate, Shelf, Turn
from .group_book import GroupBook
from .ledger import Ledger
from .pod_facts import PodFacts
from .pod_record import PodRecord
from .release_judge import Opening, ReleaseJudge
from .verdict import Outcome, Verdict
from .vocabulary import Reason

__all__ = ["Opening", "Refusal", "ReleasePass", "openings"]

_MOST_LANES: Final = 1_000
"""Lanes in which one pass counts who is before a pod; beyond, it is one at the least."""


@dataclass(slots=True, frozen=True)
class Refusal:
    """Pods that wait on, have not been told why, and why."""

    pods: tuple[PodRecord, ...]
    verdict: Verdict
    gang: GroupBook | None = None


class ReleasePass:
    """Iterate over it once. The caller charges each opening, or holds its pods back, before it
    asks for the next, and awaits nothing in between: what follows is judged on the ledger as it
    then is.

    One that is neither charged nor held back ends the pass. It may be left at any moment: what was
    not reached is found by the next.
    """

    def __init__(self, ledger: Ledger, account: Account) -> None:
        self._ledger = ledger
        self._account = account
        self._line = account.waiting
        self._judge = ReleaseJudge(ledger, account)
        self._fifo = account.facts is not None and account.facts.fifo
        self._blocked: dict[str, PodFacts] = {}
        """Cards that somebody waits for in a fifo queue, and the first who does."""
        self._lanes_counted = 0
        self._after: Turn | None = None
        """Of the last shelf that was tried."""
        shelves = account.waiting.shelves if self._fifo else ()
        self._row = [(shelf.turn, shelf) for shelf in shelves]
        heapq.heapify(self._row)

    def __iter__(self) -> Iterator[Opening | Refusal]:
        while True:
            self._line.refresh(self._ledger.epoch)
            candidate, shelf = self._line.next_awake(), self._next_shelf()
            if shelf is not None and (candidate is None or shelf.turn < candidate.place):
                self._after = shelf.turn
                found = self._try_shelf(shelf)
            elif candidate is not None:
                found = self._try_awake(candidate)
            else:
                return
            yield from found if isinstance(found, tuple) else (found,)
            if isinstance(found, Opening) and found.pods[0][0].releasable:
                return

    def _next_shelf(self) -> Shelf | None:
        """The next in which there may be room; all of them where one may hold up another."""
        if not self._fifo:
            return self._line.shelves.next_with_room(self._judge.free, self._after)
        while self._row:
            turn, shelf = self._row[0]
            if shelf and shelf.turn == turn and (self._after is None or turn > self._after):
                return shelf
            heapq.heappop(self._row)
            if shelf and shelf.turn > turn:
                heapq.heappush(self._row, (shelf.turn, shelf))
        return None

    # --- one candidate ------------------------------------------------------------------------

    def _try_awake(self, candidate: Candidate) -> Opening | tuple[Refusal, ...]:
        behind = self._behind(candidate)
        if behind is not None:
            self._line.shelve(candidate, self._judge.signature(candidate), {}, None)
            return tuple(self._tell_behind(candidate, behind))
        found = self._judge.judge(candidate)
        if isinstance(found, Opening):
            return found
        if found.needs is None:
            self._line.park(candidate)
        else:
            self._line.shelve(candidate, found.signature, found.needs, found.verdict.reason)
            self._block(candidate, found.verdict)
        if found.verdict.reason is None:
            return ()
        uids = candidate.to_tell(found.verdict.reason)
        return _refusals(self._ledger, uids, found.verdict, found.gang)

    def _try_shelf(self, shelf: Shelf) -> Opening | tuple[Refusal, ...]:
        candidate = shelf.first
        if self._behind(candidate) is not None:
            return ()
        if not shelf.may_fit(self._judge.free):
            self._block(candidate)
            return ()
        found = self._judge.judge(candidate)
        if isinstance(found, Opening):
            return found
        if found.needs is None or found.verdict.reason is not shelf.reason:
            # Another reason than they were told: each has to hear it.
            self._line.wake(shelf)
        else:
            self._line.shelves.note(shelf, found.needs)
            self._block(candidate, found.verdict)
        return ()

    # --- fifo ---------------------------------------------------------------------------------

    def _cards(self, candidate: Candidate) -> set[str]:
        firsts = (self._ledger.pods[lane.turns[0][-1]].request for lane in candidate.lanes)
        return {card for request in firsts if request for card in request.cards}

    def _behind(self, candidate: Candidate) -> str | None:
        """The card for which somebody is before it in a fifo queue: it must not even be tried."""
        if not self._blocked:
            return None
        return next((card for card in self._cards(candidate) if card in self._blocked), None)

    def _tell_behind(self, candidate: Candidate, card: str) -> Iterator[Refusal]:
        """How many are before those who came. By name only to those of the same namespace, who may
        see that pod.
        """
        first, queue = self._blocked[card], self._account.name
        groups: tuple[list[str], list[str]] = [], []
        for uid in candidate.newcomers():
            groups[self._ledger.pods[uid].facts.namespace == first.namespace].append(uid)
        for name, uids in zip(("", f"{first.namespace}/{first.name}"), groups, strict=True):
            if uids:
                before = self._before(card, min(self._ledger.pods[uid].turn for uid in uids))
                text = messages.behind(queue, card, before, name)
                verdict = Verdict(Outcome.WAITS, queue, Reason.BEHIND, text)
                yield from _refusals(self._ledger, uids, verdict)

    def _before(self, card: str, turn: Turn) -> int:
        """How many wait for a card before a turn and hold up those behind them, at the least.

        Of those who can never fit nobody has to wait.
        """
        lanes = self._line.lanes
        self._lanes_counted += len(lanes)
        if self._lanes_counted > _MOST_LANES:
            return 1
        return sum(
            bisect_left(lane.turns, turn)
            for lane in lanes.values()
            if lane.candidate
            and lane.candidate.shelf
            and lane.candidate.shelf.holds_up
            and card in self._cards(lane.candidate)
        )

    def _block(self, candidate: Candidate, verdict: Verdict | None = None) -> None:
        """What lacks room holds up those behind it; what can never fit as it is, nobody.

        `verdict` is the new one, if it has just been tried.
        """
        shelf = candidate.shelf
        if shelf is not None and verdict is not None:
            shelf.holds_up = verdict.outcome is Outcome.WAITS
        if self._fifo and shelf is not None and shelf.holds_up:
            first = self._ledger.pods[candidate.turn[-1]].facts
            cards = self._cards(candidate) - self._blocked.keys()
            self._blocked.update(dict.fromkeys(cards, first))


def _refusals(
    ledger: Ledger, uids: Iterable[str], verdict: Verdict, gang: GroupBook | None = None
) -> tuple[Refusal, ...]:
    pods = sorted((ledger.pods[uid] for uid in uids), key=lambda record: record.turn)
    return (Refusal(tuple(pods), verdict, gang),) if pods else ()


def openings(ledger: Ledger, queue: str) -> Iterator[Opening | Refusal]:
    """What can be opened in a queue now, in order, and whom to tell that they wait."""
    account = ledger.account(queue)
    if account is not None:
        yield from ReleasePass(ledger, account)
