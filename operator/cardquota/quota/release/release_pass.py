"""One pass over a queue's waiting line: what can be opened now, in order, and whom to tell (E6).

Candidates are tried in the order of their first pods. One that does not fit lets the others pass
(`dequeueStrategy: traverse`, Volcano's default); with `fifo` it holds up those behind it that want
one of its cards, and no others.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from .. import messages
from ..ledger.account import Account
from ..ledger.ledger import Ledger
from ..ledger.pod_group_state import PodGroupState
from ..pending.candidate import Candidate, InadmissibleClass, SortKey
from ..pending.kinds import Cards
from ..pending.untold import Behind, Words
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest
from ..verdict import Outcome, Verdict
from ..vocabulary import Reason
from .release_judge import Opening, ReleaseJudge

__all__ = ["Opening", "Refusal", "ReleasePass", "next_refusals", "openings"]

_AT_A_TIME: Final = 32
"""Pods in one refusal: of those who wait for the same reason, the others follow in the next."""

_MOVED_AT_A_TIME: Final = 64
"""Of those who wait in a fifo queue behind others, how many are put aside in one step."""

_MOST_LANES: Final = 1_000
"""Lanes in which it is counted who is before a pod; where there are more, it is one at the least.
"""


@dataclass(slots=True, frozen=True)
class Refusal:
    """Pods that wait on, have not been told why, and why."""

    pods: tuple[PodRecord, ...]
    verdict: Verdict
    gang: PodGroupState | None = None


class ReleasePass:
    """Iterate over it once: openings, and None after each step that opens nothing.

    The caller charges each opening, or holds its pod or its gang back, before it asks for the next
    step, and awaits nothing while it keeps the pass: what follows is judged on the ledger as it
    then is. One that is neither charged nor held back ends the pass.

    It may be left after any step, to give way: the next one goes on where it was, and judges
    nothing twice that has not changed. So passes that are always left come to an end, too. A step
    judges one candidate at most, and puts a bounded number of them aside; beside that it costs by
    the cards that somebody waits for, not by who waits. Who waits on is to be told with
    `next_refusals`.
    """

    def __init__(self, ledger: Ledger, account: Account, *, before: str = "") -> None:
        """`before`: a gang, by key. If it comes to its turn, that ends the pass: it is not judged,
        and nobody behind it is.
        """
        self._before = before
        self._ledger = ledger
        self._account = account
        self._line = account.waiting
        self._judge = ReleaseJudge(ledger, account)
        self._fifo = account.facts is not None and account.facts.fifo
        self._blocked: dict[str, PodFacts] = {}
        """Cards that somebody waits for in a fifo queue, and the first who does."""
        self._said: dict[tuple[str, str], Behind] = {}
        """To those behind them, by card and uid: many are behind the same one."""
        self._after: SortKey | None = None
        """Of the last shelf that was tried."""
        self._files: list[tuple[SortKey, str]] | None = None
        """In a fifo queue a heap: of the files of choices of cards, who is next in each."""
        self._heads: list[tuple[SortKey, Cards]] = []
        """And one of the choices that were taken out of them: whose turn it is of each."""
        self._moved = 0
        """Choices and shelves that were put elsewhere in this step: that holds in the next pass."""
        self._in_no_line: tuple[InadmissibleClass | None] | None = None
        """In a fifo queue, of those who are in nobody's way, the next with room; None: to be looked
        for. It is looked for once in a step, whoever is found to hold up others meanwhile.
        """

    def __iter__(self) -> Iterator[Opening | None]:
        while True:
            if self._line.refresh(self._ledger.epoch):
                yield None
                continue
            candidate, shelf = self._line.next_active(), self._next_shelf()
            if self._moved >= _MOVED_AT_A_TIME:
                yield None
                self._begin_step()
                continue
            if shelf is not None and (candidate is None or shelf.turn < candidate.place):
                if self._ends_before(shelf.first):
                    return
                self._after = shelf.turn
                if not shelf.may_fit(self._judge.free):
                    # No step of its own, nor part of one: the next pass finds this anew, and one
                    # that is left must have come further than the last. Each holds up those behind
                    # for another card, so there are no more of these than cards.
                    self._block(shelf.first)
                    continue
                found = self._try_shelf(shelf)
            elif candidate is not None and not self._ends_before(candidate):
                found = self._try_active(candidate)
            else:
                return
            yield found
            self._begin_step()
            if found is not None and found.pods[0][0].releasable and not _held_back(found):
                return

    def _begin_step(self) -> None:
        self._moved, self._in_no_line = 0, None

    def _ends_before(self, candidate: Candidate) -> bool:
        return candidate.whole is not None and candidate.whole.key == self._before

    def _next_shelf(self) -> InadmissibleClass | None:
        """The next in which there may be room; in a fifo queue of those that ask for cards the
        next that nobody holds up, for it may hold up others.
        """
        free, shelves = self._judge.free, self._line.shelves
        if not self._fifo:
            return shelves.next_with_room(free, self._after)
        without = self._next_in_no_line()
        while without is not None and not self._blocked.keys().isdisjoint(without.cards):
            # It will be looked at again when nobody is before it.
            shelves.hold(without, holds_up=False, aside=True)
            self._in_no_line = None
            self._moved += 1
            if self._moved >= _MOVED_AT_A_TIME:
                return None
            without = self._next_in_no_line()
        shelf = self._next_in_fifo()
        if shelf is None or without is None:
            return shelf or without
        return min(shelf, without, key=lambda one: one.turn)

    def _next_in_no_line(self) -> InadmissibleClass | None:
        if self._in_no_line is None:
            shelves, free = self._line.shelves, self._judge.free
            self._in_no_line = (shelves.next_with_room(free, self._after, of_cards=False),)
        return self._in_no_line[0]

    def _next_in_fifo(self) -> InadmissibleClass | None:
        shelves = self._line.shelves
        if self._files is None:
            self._files = shelves.kinds.fronts()
            heapq.heapify(self._files)
        heads = self._heads
        while self._moved < _MOVED_AT_A_TIME:
            if self._files and (not heads or self._files[0][0] <= heads[0][0]):
                self._look_into(self._files)
                continue
            if not heads:
                return None
            turn, cards = heads[0]
            free = self._blocked.keys().isdisjoint(cards)
            shelf = shelves.kinds.first_of(cards, self._after) if free else None
            if shelf is None:
                heapq.heappop(heads)
            elif shelf.turn != turn:
                heapq.heapreplace(heads, (shelf.turn, cards))
            elif shelf.aside and not shelf.may_fit(self._judge.free):
                shelves.hold(shelf, holds_up=False)
                self._moved += 1
            else:
                return shelf
        return None

    def _look_into(self, files: list[tuple[SortKey, str]]) -> None:
        """Take the next choice out of the first file, or put it where it is passed over."""
        kinds = self._line.shelves.kinds
        turn, name = files[0]
        found = kinds.first_in(name, turn) if name not in self._blocked else None
        if found is None or found[0] != turn:
            _go_on(files, name, found)
            return
        _go_on(files, name, kinds.first_in(name, turn, beyond=True))
        cards = found[1]
        card = next((card for card in cards if card in self._blocked), None)
        if card is None:
            heapq.heappush(self._heads, found)
        else:
            kinds.file(cards, card)
            self._moved += 1

    # --- one candidate ------------------------------------------------------------------------

    def _try_active(self, candidate: Candidate) -> Opening | None:
        cards = self._cards(candidate)
        behind = self._behind(cards)
        if behind is not None:
            # On a shelf of their own: nothing is noted yet of the room that they need.
            signature = ("behind", self._judge.signature(candidate))
            self._line.shelve(candidate, signature, {}, None, cards)
            self._line.untold.add_newcomers(candidate, behind)
            return None
        found = self._judge.judge(candidate)
        if isinstance(found, Opening):
            return found
        reason = found.verdict.reason
        if found.needs is None:
            self._line.block(candidate, reason)
        else:
            self._line.shelve(candidate, found.signature, found.needs, reason, cards)
            self._block(candidate, found.verdict)
        self._line.untold.add(candidate, Words(found.verdict, found.gang))
        return None

    def _try_shelf(self, shelf: InadmissibleClass) -> Opening | None:
        candidate = shelf.first
        found = self._judge.judge(candidate)
        if isinstance(found, Opening):
            return found
        if shelf.reason is None:
            # Nobody is before it any more; those who are behind it now stay where they are.
            self._line.try_again(candidate)
        elif found.needs is None or found.verdict.reason is not shelf.reason:
            # Another reason than they were told: each has to hear it.
            self._line.wake(shelf)
        else:
            self._line.shelves.note(shelf, found.needs)
            self._block(candidate, found.verdict)
        return None

    # --- fifo ---------------------------------------------------------------------------------

    def _cards(self, candidate: Candidate) -> Cards:
        """Which it waits for: of a gang that has not begun, those that its first members ask for.
        One that has begun may go on with any of its members.
        """
        uids = [lane.turns[0][-1] for lane in candidate.lanes]
        if candidate.whole is not None:
            book = self._ledger.groups[candidate.whole.key]
            if book.missing == book.minimum < sum(len(lane.turns) for lane in candidate.lanes):
                turns = heapq.merge(*(lane.turns for lane in candidate.lanes))
                uids = [turn[-1] for turn in islice(turns, book.minimum)]
        requests = {id(request): request for uid in uids if (request := self._request(uid))}
        return frozenset(card for request in requests.values() for card in request.cards)

    def _request(self, uid: str) -> PodRequest | None:
        return self._ledger.pods[uid].request

    def _behind(self, cards: Cards) -> Behind | None:
        """Who is before those who ask for these in a fifo queue: they must not even be tried."""
        if not self._blocked:
            return None
        card = next((card for card in cards if card in self._blocked), None)
        if card is None:
            return None
        first = self._blocked[card]
        return self._said.setdefault((card, first.uid), Behind(card, first))

    def _block(self, candidate: Candidate, verdict: Verdict | None = None) -> None:
        """What lacks room holds up those behind it; what can never fit as it is, nobody.

        `verdict` is the new one, if it has just been tried.
        """
        shelf = candidate.shelf
        if shelf is not None and verdict is not None:
            self._line.shelves.hold(shelf, holds_up=verdict.outcome is Outcome.WAITS)
        if self._fifo and shelf is not None and shelf.holds_up:
            first = self._ledger.pods[candidate.turn[-1]].facts
            for card in shelf.cards:
                self._blocked.setdefault(card, first)


def _go_on(
    files: list[tuple[SortKey, str]], name: str, found: tuple[SortKey, Cards] | None
) -> None:
    """The first file has this next, or no more."""
    if found is None:
        heapq.heappop(files)
    else:
        heapq.heapreplace(files, (found[0], name))


def _held_back(opening: Opening) -> bool:
    return opening.gang is not None and opening.gang.held_back


def next_refusals(ledger: Ledger, account: Account) -> list[Refusal] | None:
    """Some of those who wait in a queue and have not been told why; they count as told then.

    None: all have been told. An empty list: there are more, but this call has judged one candidate
    already. Who has begun to wait since the last pass is not known yet.
    """
    untold = account.waiting.untold
    found = untold.next()
    if isinstance(found, Candidate):
        _ask_again(ledger, account, found)
        found = untold.next()
        if isinstance(found, Candidate):
            return []
    if found is None:
        return None
    uids = untold.take(found, _AT_A_TIME)
    pods = sorted((ledger.pods[uid] for uid in uids), key=lambda record: record.turn)
    if isinstance(found, Behind):
        return list(_of_those_behind(ledger, account, pods, found))
    gang = ledger.groups.get(found.gang.key) if found.gang is not None else None
    return [Refusal(tuple(pods), found.verdict, gang)]


def _of_those_behind(
    ledger: Ledger, account: Account, pods: list[PodRecord], behind: Behind
) -> Iterator[Refusal]:
    """How many are before those who came. By name only to those of the same namespace, who may see
    that pod.
    """
    card, first = behind
    groups: tuple[list[PodRecord], list[PodRecord]] = [], []
    for record in pods:
        groups[record.facts.namespace == first.namespace].append(record)
    for name, those in zip(("", f"{first.namespace}/{first.name}"), groups, strict=True):
        if those:
            before = _before(ledger, account, card, those[0].turn)
            text = messages.behind(account.name, card, before, name)
            yield Refusal(tuple(those), Verdict(Outcome.WAITS, account.name, Reason.BEHIND, text))


def _before(ledger: Ledger, account: Account, card: str, turn: SortKey) -> int:
    """How many wait for a card before a turn and hold up those behind them, at the least.

    Of those who can never fit nobody has to wait.
    """
    lanes = account.waiting.lanes
    if len(lanes) > _MOST_LANES:
        return 1
    number = sum(
        bisect_left(lane.turns, turn)
        for lane in lanes.values()
        if lane.candidate
        and lane.candidate.shelf
        and lane.candidate.shelf.holds_up
        and card in lane.candidate.shelf.cards
        and (request := ledger.pods[lane.turns[0][-1]].request)
        and card in request.cards
    )
    return max(1, number)


def _ask_again(ledger: Ledger, account: Account, candidate: Candidate) -> None:
    """What one is told whose verdict was not kept, for too many others had to hear theirs."""
    found = ReleaseJudge(ledger, account).judge(candidate)
    if isinstance(found, Opening) or found.verdict.reason is not candidate.lanes[0].reason:
        account.waiting.try_again(candidate)
        ledger.dirty.mark_pending(account.name)
    else:
        account.waiting.untold.keep(candidate, Words(found.verdict, found.gang))


def openings(ledger: Ledger, queue: str) -> Iterator[Opening | Refusal]:
    """What can be opened in a queue now, in order, and whom to tell that they wait."""
    account = ledger.account(queue)
    if account is None:
        return
    for found in ReleasePass(ledger, account):
        if found is not None:
            yield found
        while (refusals := next_refusals(ledger, account)) is not None:
            yield from refusals
