"""One pass over a pending queue: what can be opened now, in order (E6).

Candidates are tried in the order of their first pods. A candidate that does not fit lets the others
pass (`dequeueStrategy: traverse`, Volcano's default). Once it has waited too long, those behind it
pass only if they take nothing that it needs (backfill). With `fifo` it holds up those behind it
that want one of its cards, and no others.
"""

import heapq
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from ..accounts.account import Account
from ..amounts import is_card
from ..ledger.ledger import Ledger
from ..pending.candidate import Candidate, InadmissibleClass
from ..pending.fifo_index import Cards
from ..pending.first_members import first_members
from ..pending.long_waits import Asked
from ..pending.release_key import ReleaseKey
from ..pending.untold import Behind, BehindLongWait, Named, Words
from ..pods.pod_request import PodRequest
from ..verdict import Outcome, Verdict
from ..vocabulary import COMPUTE_RESOURCES, Reason
from ..words import MOST_LISTED
from .release_judge import Opening, ReleaseJudge, Wait
from .set_aside import SetAside
from .starvation import Starvation

MOVED_AT_A_TIME: Final = 64
"""In a fifo queue: card sets and classes that one step moves."""
BORROWERS_AT_A_TIME: Final = 16
"""Pods of rolling updates that one step looks at: about a millisecond."""


class ReleasePass:
    """Iterate over it once. It yields openings, and None after each step that opens nothing.

    The caller charges each opening, or holds its pod or gang back, before it asks for the next
    step. It awaits nothing while it keeps the pass: every step judges by the ledger as it then is.
    An opening that is neither charged nor held back ends the pass.

    The pass may be left after any step, to give way. The next pass continues there, and judges
    nothing twice that has not changed. So a job whose passes are always left still comes to an end.
    A step judges at most one candidate, twice if something is set aside for others, or some
    pods that may borrow, and puts a bounded number of them aside. Besides, it costs by the cards
    that are waited for, not by the pods that wait. `next_refusals` then gives the pods that are to
    be told why they wait.
    """

    def __init__(
        self,
        ledger: Ledger,
        account: Account,
        *,
        before: str | None = None,
        starvation: Starvation | None = None,
    ) -> None:
        """`before`: the key of a gang. The pass ends where it would judge that gang: neither the
        gang nor anything behind it is judged. `starvation`: what wait is too long; None: none is.
        """
        self._before = before
        self._ledger = ledger
        self._account = account
        self._pending = account.pending
        self._judge = ReleaseJudge(ledger, account)
        self._fifo = account.facts is not None and account.facts.fifo
        self._starvation = None if self._fifo else starvation
        self._set_aside = SetAside(ledger, account, self._judge)
        self._last_set_aside: ReleaseKey | None = None
        """The place of the last one for whom something was set aside."""
        self._cutoff = self._starvation.cutoff if self._starvation is not None else ""
        self._said_long: dict[str, BehindLongWait] = {}
        """By uid of one who has waited too long: what those behind him are told."""
        self._blockers: dict[str, Named] = {}
        """In a fifo queue: by card that is waited for, the first pod or group that waits for it."""
        self._said: dict[tuple[str, str], Behind] = {}
        """By card and uid: what the pods behind that pod are told. Many have the same text."""
        self._after: ReleaseKey | None = None
        """The place of the last inadmissible class that was tried."""
        self._by_blocker: list[tuple[ReleaseKey, str]] | None = None
        """In a fifo queue, a heap: all blockers, with the next card set of each."""
        self._card_sets: list[tuple[ReleaseKey, Cards]] = []
        """Also a heap: the card sets that were taken from there, with the next class of each."""
        self._moved = 0
        """Card sets and classes that this step has moved; they stay there for the next pass."""
        self._not_blocking: tuple[InadmissibleClass | None] | None = None
        """In a fifo queue, the next class with room among those that hold up no other; None: to be
        found. It is found once in a step, even if more classes turn out to hold up others.
        """

    def __iter__(self) -> Iterator[Opening | None]:
        """Borrowers and all others take turns: of either there may always be more to look at."""
        in_order = self._in_order()
        for borrowing in self._borrowing():
            yield borrowing
            if borrowing is not None:
                if self._left(borrowing):
                    return
                continue
            for found in islice(in_order, 1):
                yield found
                if found is not None and self._left(found):
                    return
        yield from in_order

    def _in_order(self) -> Iterator[Opening | None]:
        while True:
            if self._pending.refresh(self._ledger.epoch, self._account.limit):
                yield None
                continue
            candidate, inadmissible = self._pending.next_active(), self._next_inadmissible()
            if self._moved >= MOVED_AT_A_TIME:
                yield None
                self._begin_step()
                continue
            before = self._set_aside_before(candidate, inadmissible)
            if before is not None:
                if before:
                    yield None
                    self._begin_step()
                continue
            if inadmissible is not None and (
                candidate is None or inadmissible.release_key < candidate.indexed_key
            ):
                if self._ends_before(inadmissible.first):
                    return
                self._after = inadmissible.release_key
                if not inadmissible.may_fit(self._judge.free):
                    # This is no step of its own, nor part of one: the next pass finds it again, and
                    # a pass that is left must have come further than the last. Each such class
                    # blocks another card, so there are no more of them than cards.
                    self._add_blockers(inadmissible.first)
                    continue
                found = self._try_inadmissible(inadmissible)
            elif candidate is not None and not self._ends_before(candidate):
                found = self._try_active(candidate)
            elif candidate is None and self._activate_those_behind_nobody():
                yield None
                continue
            else:
                return
            yield found
            self._begin_step()
            if found is not None and self._left(found):
                return

    def _borrowing(self) -> Iterator[Opening | None]:
        """Pods of rolling updates that borrow (R6): nobody who waits is in their way. Each is
        looked at once after each change; a pass that is left has come further.
        """
        borrowers = self._pending.borrowers
        if borrowers:
            borrowers.begin(self._lending())
        while borrowers.to_look_at:
            for uid in borrowers.take(BORROWERS_AT_A_TIME):
                opening = self._judge.borrow(uid)
                if opening is not None:
                    yield opening
                    break  # what is lent has become less
            else:
                yield None

    def _lending(self) -> Hashable:
        """What changes whenever somebody may borrow who could not: what is left of cards that are
        lent, and of cpu and memory. Who takes cards that are not lent is nobody's matter here.
        """
        account, free = self._account, self._judge.free
        lent = [
            (card, free(card), account.row(card).reserved)
            for card in account.quota
            if free(card) + account.lent(card) > 0 and account.lent(card)
        ]
        others = tuple(map(free, COMPUTE_RESOURCES))
        return tuple(lent), others, account.quota_mark, account.facts

    def _begin_step(self) -> None:
        self._moved, self._not_blocking = 0, None

    def _left(self, found: Opening) -> bool:
        """Whether it was neither charged nor held back."""
        if not found.pods:
            return found.gang in self._pending.groups
        return found.pods[0][0].releasable and not _held_back(found)

    def _ends_before(self, candidate: Candidate) -> bool:
        return candidate.whole is not None and candidate.whole.key == self._before

    def _next_inadmissible(self) -> InadmissibleClass | None:
        """The next class that may have room. In a fifo queue, of classes that ask for cards, the
        next that is not held up, with or without room: it may hold up others.
        """
        free, classes = self._judge.free, self._pending.inadmissible
        if not self._fifo:
            with self._set_aside.laid(self._set_aside.before(None)):
                return classes.next_with_room(free, self._after)
        without = self._next_not_blocking()
        while without is not None and not self._blockers.keys().isdisjoint(without.cards):
            # It will be looked at again when no class before it holds it up.
            classes.set_holds_up(without, holds_up=False, aside=True)
            self._not_blocking = None
            self._moved += 1
            if self._moved >= MOVED_AT_A_TIME:
                return None
            without = self._next_not_blocking()
        inadmissible = self._next_in_fifo()
        if inadmissible is None or without is None:
            return inadmissible or without
        return min(inadmissible, without, key=lambda one: one.release_key)

    def _next_not_blocking(self) -> InadmissibleClass | None:
        if self._not_blocking is None:
            classes, free = self._pending.inadmissible, self._judge.free
            self._not_blocking = (classes.next_with_room(free, self._after, of_cards=False),)
        return self._not_blocking[0]

    def _next_in_fifo(self) -> InadmissibleClass | None:
        classes = self._pending.inadmissible
        if self._by_blocker is None:
            self._by_blocker = classes.fifo_index.firsts()
            heapq.heapify(self._by_blocker)
        card_sets = self._card_sets
        while self._moved < MOVED_AT_A_TIME:
            if self._by_blocker and (not card_sets or self._by_blocker[0][0] <= card_sets[0][0]):
                self._take_first(self._by_blocker)
                continue
            if not card_sets:
                return None
            key, cards = card_sets[0]
            free = self._blockers.keys().isdisjoint(cards)
            inadmissible = classes.fifo_index.first_of(cards, self._after) if free else None
            if inadmissible is None:
                heapq.heappop(card_sets)
            elif inadmissible.release_key != key:
                heapq.heapreplace(card_sets, (inadmissible.release_key, cards))
            elif inadmissible.aside and not inadmissible.may_fit(self._judge.free):
                classes.set_holds_up(inadmissible, holds_up=False)
                self._moved += 1
            else:
                return inadmissible
        return None

    def _take_first(self, by_blocker: list[tuple[ReleaseKey, str]]) -> None:
        """Take the first card set of the first blocker, or list it by the card that blocks it."""
        fifo_index = self._pending.inadmissible.fifo_index
        key, blocker = by_blocker[0]
        found = fifo_index.first_in(blocker, key) if blocker not in self._blockers else None
        if found is None or found[0] != key:
            _advance(by_blocker, blocker, found)
            return
        _advance(by_blocker, blocker, fifo_index.first_in(blocker, key, beyond=True))
        cards = found[1]
        card = next((card for card in cards if card in self._blockers), None)
        if card is None:
            heapq.heappush(self._card_sets, found)
        else:
            fifo_index.set_blocker(cards, card)
            self._moved += 1

    # --- one candidate ------------------------------------------------------------------------

    def _try_active(self, candidate: Candidate) -> Opening | None:
        cards = self._cards(candidate)
        behind = self._behind(cards)
        if behind is not None:
            # In a class of its own: the room that it needs is not known yet.
            signature = ("behind", self._judge.signature(candidate))
            self._pending.set_inadmissible(candidate, signature, {}, None, cards)
            self._pending.untold.add_newcomers(candidate, behind)
            return None
        found, long_wait = self._judge_behind(candidate)
        if not isinstance(found, Wait):
            return found
        reason = found.verdict.reason
        if long_wait is not None:
            uid = long_wait.first.uid
            aside: Hashable = ("behind", uid, found.signature)
            self._pending.set_inadmissible(
                candidate, aside, found.needs or {}, reason, cards, behind=uid
            )
            self._add_blockers(candidate, found.verdict)
            self._pending.untold.add_behind(candidate, long_wait)
            return None
        if found.needs is None:
            self._pending.block(candidate, reason)
        else:
            self._pending.set_inadmissible(candidate, found.signature, found.needs, reason, cards)
            self._add_blockers(candidate, found.verdict)
        self._pending.untold.add(candidate, Words(found.verdict, found.gang))
        return None

    def _try_inadmissible(self, inadmissible: InadmissibleClass) -> Opening | None:
        candidate = inadmissible.first
        found, _ = self._judge_behind(candidate)
        if not isinstance(found, Wait):
            return found
        if inadmissible.reason is None:
            # Nothing before it holds it up any more. What is behind it now stays where it is.
            self._pending.activate(candidate)
        elif found.needs is None or found.verdict.reason is not inadmissible.reason:
            # The reason has changed: each pod has to be told.
            self._pending.activate_class(inadmissible)
        else:
            self._pending.inadmissible.set_needs(inadmissible, found.needs)
            self._add_blockers(candidate, found.verdict)
        return None

    # --- behind those who have waited too long ------------------------------------------------

    def _set_aside_before(
        self, candidate: Candidate | None, inadmissible: InadmissibleClass | None
    ) -> bool | None:
        """Set aside what those need who have waited too long and come before those that are next.
        None: there are none. Else other classes may be next. True: that was a step; what was found
        is kept, so a pass that is left has come further.
        """
        if self._starvation is None or self._set_aside.full:
            return None
        long_waits = self._pending.inadmissible.long_waits
        if not long_waits.grow_old(self._cutoff):
            return True
        keys = [candidate.indexed_key] if candidate is not None else []
        keys += [inadmissible.release_key] if inadmissible is not None else []
        others = None
        while keys and not self._set_aside.full:
            found = long_waits.first_after(self._last_set_aside)
            if found is None or found[0] >= min(keys):
                break
            key, holder = found
            if long_waits.epoch_of(holder) != self._ledger.epoch:
                self._pending.activate(holder)
                return False
            self._last_set_aside, others = key, False
            if any(holder is one for one, _ in self._set_aside.holders):
                continue  # it has got another place since
            # What was kept costs nothing: who is next is asked once for all of these.
            if long_waits.asked(holder) is None:
                self._set_aside_for(holder)
                return True
            self._set_aside_for(holder)
        return others

    def _set_aside_for(self, holder: Candidate) -> None:
        (_, claims), changed = self._set_aside.add(holder)
        if changed:
            self._activate_behind(list(self._pending.inadmissible.behind))
        with_choice = self._pending.inadmissible.with_choice
        if claims and holder.sort_key.uid not in with_choice:
            with_choice.add(holder.sort_key.uid)
            self._pending.invalidate_needs()

    def _judge_behind(self, candidate: Candidate) -> tuple[Opening | Wait, BehindLongWait | None]:
        """Whether a candidate goes beside all that is set aside. If only that stops it: also what
        it is told.
        """
        holders = self._set_aside.before(candidate)
        if not holders:
            return self._judge.judge(candidate), None
        with self._set_aside.laid(holders):
            beside = self._judge.judge(candidate)
        if not isinstance(beside, Wait):
            return beside, None
        found = self._judge.judge(candidate)
        if isinstance(found, Wait):
            # Its text has the numbers of the queue as it is.
            both = beside.needs is not None and found.needs is not None
            return replace(found, needs=beside.needs) if both else found, None
        verdict = Verdict(Outcome.WAITS, self._account.name, Reason.BEHIND)
        signature = self._judge.signature(candidate)
        words = self._long_wait(candidate, holders)
        return Wait(verdict, beside.gang, signature, beside.needs), words

    def _long_wait(
        self, candidate: Candidate, holders: Sequence[tuple[Candidate, Asked]]
    ) -> BehindLongWait:
        """Of whom a candidate is told that waits behind all that is set aside: the first who wants
        the same.
        """
        cards = self._cards(candidate).union(COMPUTE_RESOURCES)
        holder, asked = next((one for one in holders if _wants(one[1], cards)), holders[0])
        uid = holder.sort_key.uid
        words = self._said_long.get(uid)
        if words is None:
            words = self._said_long[uid] = self._words_of(holder, asked)
        return words

    def _words_of(self, holder: Candidate, asked: Asked) -> BehindLongWait:
        amounts, claims = asked
        found = [("|".join(one.cards[:MOST_LISTED]), one.amount * n) for one, n in claims]
        found += [one for one in amounts if is_card(one[0])] or amounts if not found else []
        waited = self._starvation.waited(holder.sort_key.made) if self._starvation else 0
        named, group = self._named(holder), holder.enqueues is not None
        if holder.whole is not None:
            namespace, _, name = holder.whole.key.partition("/")
            named, group = Named(named.uid, namespace, name), True
        return BehindLongWait(named, group, int(waited), tuple(found[:MOST_LISTED]))

    def _activate_behind(self, uids: Iterable[str]) -> None:
        """Have those tried again that wait behind these."""
        for uid in uids:
            for inadmissible in self._pending.inadmissible.behind.pop(uid):
                self._pending.activate_class(inadmissible)

    def _activate_those_behind_nobody(self) -> bool:
        """Have those tried again who wait behind one that does not wait any more. Returns whether
        there are any.
        """
        classes, before = self._pending.inadmissible, self._starvation is None
        gone = [uid for uid in classes.behind if before or not classes.long_waits.has(uid)]
        self._activate_behind(gone)
        over = {uid for uid in classes.with_choice if before or not classes.long_waits.has(uid)}
        if over:
            classes.with_choice -= over
            self._pending.invalidate_needs()
        if not gone and not over:
            return False
        self._after = self._last_set_aside = None
        self._set_aside = SetAside(self._ledger, self._account, self._judge)
        return True

    # --- fifo ---------------------------------------------------------------------------------

    def _cards(self, candidate: Candidate) -> Cards:
        """The cards that it waits for. For a gang that has not started: those of its first members.
        A started gang may go on with any of its members.
        """
        if candidate.enqueues is not None:
            asked = self._ledger.groups[candidate.enqueues.key].request.cards
            return frozenset(card for row in asked for card in row.cards)
        uids = [pod_class.sort_keys[0].uid for pod_class in candidate.classes]
        if candidate.whole is not None:
            group = self._ledger.groups[candidate.whole.key]
            if (
                group.missing
                == group.minimum
                < sum(len(pod_class.sort_keys) for pod_class in candidate.classes)
            ):
                by_task = group.missing_by_task
                sort_keys = first_members(candidate.classes, group.minimum, by_task)
                uids = [sort_key.uid for sort_key in sort_keys]
        requests = {id(request): request for uid in uids if (request := self._request(uid))}
        return frozenset(card for request in requests.values() for card in request.cards)

    def _request(self, uid: str) -> PodRequest | None:
        return self._ledger.pods[uid].request

    def _behind(self, cards: Cards) -> Behind | None:
        """What holds up candidates for these cards in a fifo queue: they must not be tried."""
        if not self._blockers:
            return None
        card = next((card for card in cards if card in self._blockers), None)
        if card is None:
            return None
        first = self._blockers[card]
        return self._said.setdefault((card, first.uid), Behind(card, first))

    def _named(self, candidate: Candidate) -> Named:
        """The pod, or the group, that those behind it are told of."""
        uid = candidate.sort_key.uid
        if candidate.enqueues is None:
            facts = self._ledger.pods[uid].facts
            return Named(uid, facts.namespace, facts.name)
        namespace, _, name = uid.partition("/")
        return Named(uid, namespace, name)

    def _add_blockers(self, candidate: Candidate, verdict: Verdict | None = None) -> None:
        """A candidate that lacks room holds up those behind it; one that can never fit does not.

        `verdict`: the new one, if it was just tried.
        """
        inadmissible = candidate.inadmissible
        if inadmissible is not None and verdict is not None:
            waits = verdict.outcome is Outcome.WAITS
            self._pending.inadmissible.set_holds_up(inadmissible, holds_up=waits)
            long_waits = self._pending.inadmissible.long_waits
            if waits:
                long_waits.add(candidate, inadmissible.cards, self._ledger.epoch)
            else:
                long_waits.discard(candidate)
        if self._fifo and inadmissible is not None and inadmissible.holds_up:
            first = self._named(candidate)
            for card in inadmissible.cards:
                self._blockers.setdefault(card, first)


def _advance(
    by_blocker: list[tuple[ReleaseKey, str]], blocker: str, found: tuple[ReleaseKey, Cards] | None
) -> None:
    """Set the next card set of the first blocker; None: it has no more."""
    if found is None:
        heapq.heappop(by_blocker)
    else:
        heapq.heapreplace(by_blocker, (found[0], blocker))


def _wants(asked: Asked, dimensions: Cards) -> bool:
    amounts, claims = asked
    wanted = {dimension for dimension, _ in amounts}.union(*(one.cards for one, _ in claims))
    return not wanted.isdisjoint(dimensions)


def _held_back(opening: Opening) -> bool:
    return opening.gang is not None and opening.gang.held_back
