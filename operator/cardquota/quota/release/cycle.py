"""One cycle over a pending queue: what can be released now, in order (E6).

Candidates are tried in the order of their first pods. One that lacks room closes cards to those
behind it: in a `fifo` queue at once, in a `traverse` queue once it has waited too long. Those
behind it that want a closed card are not tried; all others are.
"""

from bisect import insort
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from ..accounts.account import Account
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger import Ledger
from ..messages import gate_messages
from ..pending.candidate import (
    ANY_AMOUNT,
    LOST,
    Candidate,
    InadmissibleClass,
    Needs,
    NeverClosed,
    Readiness,
    ReleaseKey,
    Shortage,
)
from ..pending.candidate_order import InadmissibleClasses
from ..pending.pending_notices import BehindHead
from ..pods.pod_record import PodRecord
from ..verdict import Outcome, Verdict
from ..vocabulary import COMPUTE_RESOURCES, Reason
from ..words import seconds_of, time_text
from .release_judge import Opening, ReleaseJudge, Wait

BORROWERS_AT_A_TIME: Final = 16
"""Pods of rolling updates that one step looks at: about a millisecond."""


class Starvation(NamedTuple):
    """How long somebody may wait for room before he closes his cards to those behind him (E6): the
    wait that is too long, and the time of one look at the queues.

    Times are those that the API server wrote, so that a new leader finds the same.
    """

    now: float
    """Seconds since 1970, by the wall clock."""
    wait: float
    """Seconds, above zero."""

    @property
    def cutoff(self) -> str:
        """Who was created at this time or before has waited too long."""
        return time_text(int(max(0.0, self.now - self.wait)))

    def waited(self, created: str) -> float:
        """Seconds since a creation time; 0 for one that cannot be read, or is still to come."""
        since = seconds_of(created)
        return 0.0 if since is None else max(0.0, self.now - since)


def release_cycle(
    ledger: Ledger,
    account: Account,
    *,
    before: str | None = None,
    starvation: Starvation | None = None,
) -> Iterator[Opening | None]:
    """Yields what can be released, and None after each step that releases nothing.

    The caller charges each opening, or holds its pod or gang back, before it asks for the next
    step. It awaits nothing while it keeps the cycle: every step judges by the ledger as it then is.
    An opening that is neither charged nor held back ends the cycle.

    The cycle may be left after any step, to give way. The next cycle judges nothing twice that has
    not changed. So a job whose cycles are always left still comes to an end. A step judges at most
    one candidate, or some pods that may borrow. Besides, it costs by the different amounts that are
    waited for, and the first one by the classes that wait. `next_refusals` then gives the pods that
    are to be told why they wait.

    `before`: the key of a gang. The cycle ends where it would judge that gang: neither the gang nor
    anything behind it is judged. `starvation`: what wait is too long; None: none is.
    """
    # Borrowers and all others take turns: of either there may always be more to look at.
    in_order = _Cycle(ledger, account, starvation).in_order(before)
    for borrowed in _borrowing(ledger, account):
        yield borrowed
        if borrowed is not None:
            if _is_left(account, borrowed):
                return
            continue
        for found in islice(in_order, 1):
            yield found
            if found is not None and _is_left(account, found):
                return
    yield from in_order


class _Cycle:
    """The candidates of one queue, in order."""

    def __init__(self, ledger: Ledger, account: Account, starvation: Starvation | None) -> None:
        self._ledger = ledger
        self._account = account
        self._pending = account.pending
        self._judge = ReleaseJudge(ledger, account)
        self._fifo = account.facts is not None and account.facts.fifo
        self._starvation = None if self._fifo else starvation
        self._cutoff = starvation.cutoff if starvation is not None else None
        self._begin()

    def _may_close(self, key: ReleaseKey) -> bool:
        """Whether one with this place that lacks room closes its cards. In a fifo queue all do but
        who has lost its place, else who has waited too long. A member that a gang lacks which has
        begun does at once: the others hold their cards for nothing.
        """
        if self._fifo:
            return key.made < LOST
        cutoff = self._cutoff
        return cutoff is not None and (key.made <= cutoff or key.readiness is Readiness.INCOMPLETE)

    def _begin(self) -> None:
        self._heads: _Heads | None = None
        self._closed = {
            card: BehindHead(card, room.namespace, room.name, room.group, None, room_made=True)
            for card, room in self._ledger.rooms_kept_in(self._account.name).items()
        }
        """By card, cpu or memory: what those are told who want it, and come from here on."""
        self._after: ReleaseKey | None = None
        """The place of the last inadmissible class that was looked at."""
        self._free_compute = self._judge.free_compute

    def in_order(self, before: str | None) -> Iterator[Opening | None]:
        """One step after the other."""
        pending, judge = self._pending, self._judge
        while True:
            if self._closed and self._free_compute != judge.free_compute:
                self._begin()  # a head may lack cpu or memory by what was released behind it
            # 1. The next in order: one to be tried, or one with as much room as it needs. Heads on
            #    the way, which lack room, close cards to those behind them.
            if pending.refresh(self._ledger.epoch, self._account.limit):
                yield None
                continue
            candidate, inadmissible = self._next()
            if candidate is None or (candidate.gang and candidate.gang.key == before):
                return

            # 2. Closed cards: who wants one waits until it is open, and is not judged.
            asked = inadmissible.asked if inadmissible else judge.asked_by(candidate)
            reserved = judge.is_reserved(candidate)
            behind = None if reserved else self._behind(asked)
            if behind is not None:
                self._wait_behind(candidate, inadmissible, asked, behind)
                yield None
                continue
            if inadmissible is not None and inadmissible.shortage.reason is None:
                # It was behind others when it came. What is behind it now stays where it is.
                pending.activate(candidate)
                continue

            # 3. Judge it, as the ledger is now.
            found = judge.judge(candidate)

            # 4. It is released; or it waits for room until there is as much as it needs, or for
            #    something else until that changes.
            if isinstance(found, Opening):
                yield found
                if _is_left(self._account, found):
                    return
            else:
                shortage = self._shortage(found, asked, reserved=reserved)
                self._wait(candidate, inadmissible, asked, found, shortage)
                yield None

    def _next(self) -> tuple[Candidate | None, InadmissibleClass | None]:
        """The next candidate, with its class if it is inadmissible."""
        free, classes, epoch = self._judge.free, self._pending.inadmissible, self._ledger.epoch
        if self._heads is None:
            closing = classes.closing if self._fifo or self._cutoff is not None else ()
            self._heads = _Heads(classes, closing, self._may_close)
        active, with_room = self._pending.active.first(), classes.with_room(free, self._after)
        while True:
            while with_room and with_room[-1][0] in self._closed:
                with_room.pop()
            found = [one for _, one in with_room[-1:]]
            if (head := self._heads.next(self._after, self._closed)) is not None:
                found.append(head)
            first = min(found, key=lambda one: one.release_key, default=None)
            if first is None or (active and active.indexed_key < first.release_key):
                return active, None
            self._after = first.release_key
            # It may lack cpu or memory now and did not when it was judged, or the reverse.
            shortage = first.shortage
            other = bool(shortage.closes) and shortage.free_compute != self._judge.free_compute
            if other or not first.lacks_room(free, epoch):
                return first.first, first
            self._close(first)

    def _behind(self, asked: frozenset[str]) -> BehindHead | None:
        """Behind what one waits that asks for these; None: nothing of it is closed."""
        found = asked.intersection(self._closed)
        return self._closed[min(found)] if found else None

    def _wait_behind(
        self,
        candidate: Candidate,
        inadmissible: InadmissibleClass | None,
        asked: frozenset[str],
        behind: BehindHead,
    ) -> None:
        until_open: Needs = {behind.dimension: ANY_AMOUNT}
        if inadmissible is not None:
            shortage = inadmissible.shortage._replace(needs=until_open)
            self._pending.inadmissible.set_shortage(inadmissible, shortage)
            return
        # In a class of its own: the room that it needs is not known yet.
        signature = ("behind", self._judge.signature(candidate))
        self._pending.set_inadmissible(candidate, signature, asked, Shortage(until_open))
        self._pending.pending_notices.add_behind(candidate, behind)

    def _shortage(self, found: Wait, asked: frozenset[str], *, reserved: bool) -> Shortage | None:
        """What it lacks; None if it waits for anything but room. It closes all cards that it asks
        for, and cpu and memory if it lacks them; nothing, if it can never fit as it stands.
        `reserved`: nothing is closed to it.
        """
        if found.needs is None:
            return None
        verdict, needs = found.verdict, found.needs
        closes = frozenset[str]()
        if verdict.outcome is Outcome.WAITS:
            lacking = {one.dimension for one in verdict.shortfalls}
            closes = asked.difference(COMPUTE_RESOURCES) | lacking.intersection(COMPUTE_RESOURCES)
        if reserved:
            needs = {NeverClosed(d) if isinstance(d, str) else d: n for d, n in needs.items()}
        free = self._judge.free_compute
        return Shortage(needs, verdict.reason, closes, self._ledger.epoch, free)

    def _wait(
        self,
        candidate: Candidate,
        inadmissible: InadmissibleClass | None,
        asked: frozenset[str],
        found: Wait,
        shortage: Shortage | None,
    ) -> None:
        """`shortage`: None where it waits for anything but room."""
        pending, reason = self._pending, found.verdict.reason
        if inadmissible is not None:
            if shortage is None or reason is not inadmissible.shortage.reason:
                # The reason has changed: each pod has to be told.
                pending.activate_class(inadmissible)
                return
            pending.inadmissible.set_shortage(inadmissible, shortage)
        else:
            if shortage is not None:
                pending.set_inadmissible(candidate, found.signature, asked, shortage)
            else:
                pending.block(candidate, reason)
            pending.pending_notices.add(candidate, found.verdict)
        head = candidate.inadmissible
        if head is not None and self._may_close(head.release_key):
            self._close(head)

    def _close(self, head: InadmissibleClass) -> None:
        """Close what a head closes, and note what those behind it are told."""
        first, starvation = head.first, self._starvation
        group = first.gang or first.group_to_enqueue
        if group is not None:
            namespace, _, name = group.key.partition("/")
        else:
            facts = self._ledger.pods[first.sort_key.uid].facts
            namespace, name = facts.namespace, facts.name
        waited = starvation.waited(first.sort_key.made) if starvation is not None else None
        for dimension in head.shortage.closes:
            words = BehindHead(dimension, namespace, name, group is not None, waited)
            self._closed.setdefault(dimension, words)


class _Heads:
    """Those without room that close cards, in order. Of those that ask for the same the first
    closes it to the others.
    """

    def __init__(
        self,
        classes: InadmissibleClasses,
        closing: Collection[frozenset[str]],
        may_close: Callable[[ReleaseKey], bool],
    ) -> None:
        self._classes, self._may_close = classes, may_close
        firsts = ((classes.first_closing(asked, None, may_close), asked) for asked in closing)
        self._order = sorted((head.release_key, asked) for head, asked in firsts if head)
        """By set of what is asked for: the place of the first that asks for it."""
        self._next = 0

    def next(
        self, after: ReleaseKey | None, closed: Mapping[str, BehindHead]
    ) -> InadmissibleClass | None:
        """The first after a place that asks for nothing closed."""
        while self._next < len(self._order):
            key, asked = self._order[self._next]
            is_open = asked.isdisjoint(closed)
            head = self._classes.first_closing(asked, after, self._may_close) if is_open else None
            if head is not None and head.release_key == key:
                return head
            self._next += 1
            if head is not None:  # who was first is released, or has another place
                insort(self._order, (head.release_key, asked), lo=self._next)
        return None


def _is_left(account: Account, found: Opening) -> bool:
    """Whether it was neither charged nor held back."""
    if not found.pods:
        return found.gang in account.pending.groups
    record, _ = found.pods[0]
    return record.releasable and not (found.gang is not None and found.gang.backed_off)


def _borrowing(ledger: Ledger, account: Account) -> Iterator[Opening | None]:
    """Pods of rolling updates that borrow (R6): nobody who waits is in their way. Each is looked at
    once after each change; a cycle that is left has come further.
    """
    borrowers, judge = account.pending.borrowers, ReleaseJudge(ledger, account)
    if borrowers:
        borrowers.begin(_lending(account, judge))
    while borrowers.to_look_at:
        for uid in borrowers.take(BORROWERS_AT_A_TIME):
            opening = judge.borrow(uid)
            if opening is not None:
                yield opening
                break  # what is lent has become less
        else:
            yield None


def _lending(account: Account, judge: ReleaseJudge) -> Hashable:
    """What changes whenever somebody may borrow who could not: what is left of cards that are lent,
    and of cpu and memory. Who takes cards that are not lent is nobody's matter here.
    """
    lent = [
        (card, free, account.row(card).reserved)
        for card in account.quota
        if account.lent(card) and (free := judge.free_for_updates(card)) > 0
    ]
    others = tuple(map(judge.free, COMPUTE_RESOURCES))
    return tuple(lent), others, judge.kept_cards, account.quota_mark, account.facts


# --- who is to be told why (I4): many of those that wait for one reason at once, each of them once

REFUSED_AT_A_TIME: Final = 32
"""Pods in one refusal. Further pods that wait for the same reason follow in the next one."""


@dataclass(slots=True, frozen=True)
class Refusal:
    """Pods that still wait and have not been told why, and the reason."""

    pods: tuple[PodRecord, ...]
    verdict: Verdict
    gang: PodGroupState | None = None


def next_refusals(ledger: Ledger, account: Account) -> list[Refusal] | None:
    """Some of the pods that wait in a queue and have not been told why. They then count as told.

    None: all have been told. An empty list: there are more, but this call has already judged one
    candidate. Pods that began waiting after the last pass are not known yet.
    """
    pending_notices = account.pending.pending_notices
    found = pending_notices.next()
    if found is not None and found[1] is None:
        _ask_again(ledger, account, found[0])
        found = pending_notices.next()
    if found is None:
        return None
    candidate, words = found
    if words is None:
        return []
    uids = pending_notices.take(words, REFUSED_AT_A_TIME)
    there = (ledger.pods[uid] for uid in uids if uid in ledger.pods)
    pods = sorted(there, key=lambda record: record.sort_key)
    groups = [ledger.groups[uid] for uid in uids if uid in ledger.groups]
    if isinstance(words, BehindHead):
        return list(_of_those_behind(account, pods, groups, words))
    if groups:
        return [Refusal((), words, group) for group in groups]
    gang = ledger.groups.get(candidate.gang.key) if candidate.gang is not None else None
    return [Refusal(tuple(pods), words, gang)]


def _of_those_behind(
    account: Account, pods: list[PodRecord], groups: list[PodGroupState], behind: BehindHead
) -> Iterator[Refusal]:
    """Names the one before them only to those of its namespace, whose users may see it."""
    for named in (False, True):
        name = f"{behind.namespace}/{behind.name}" if named else None
        text = _behind_text(account.name, behind, name)
        verdict = Verdict(Outcome.WAITS, account.name, Reason.BEHIND, text)
        those = [one for one in pods if (one.facts.namespace == behind.namespace) is named]
        if those:
            yield Refusal(tuple(those), verdict)
        for group in groups:
            if (group.key.partition("/")[0] == behind.namespace) is named:
                yield Refusal((), verdict, group)


def _behind_text(queue: str, behind: BehindHead, name: str | None) -> str:
    if behind.room_made:
        return gate_messages.behind_room_made(queue, behind.dimension, name, group=behind.group)
    return gate_messages.behind(
        queue, behind.dimension, name, group=behind.group, waited=behind.waited
    )


def _ask_again(ledger: Ledger, account: Account, candidate: Candidate) -> None:
    """Judge a candidate again whose verdict was not kept, as too many others were to be told."""
    found = ReleaseJudge(ledger, account).judge(candidate)
    if not isinstance(found, Wait) or found.verdict.reason is not candidate.classes[0].reason:
        account.pending.activate(candidate)
        ledger.dirty.pending.add(account.name)
    else:
        account.pending.pending_notices.keep(candidate, found.verdict)


def openings(
    ledger: Ledger, queue: str, starvation: Starvation | None = None
) -> Iterator[Opening | Refusal]:
    """What can be opened in a queue now, in order, and who is to be told why he waits.

    `starvation`: what wait is too long; None: none is.
    """
    account = ledger.account(queue)
    if account is None:
        return
    for found in release_cycle(ledger, account, starvation=starvation):
        if found is not None:
            yield found
        while (refusals := next_refusals(ledger, account)) is not None:
            yield from refusals
