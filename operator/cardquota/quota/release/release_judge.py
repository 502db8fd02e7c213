"""The judgement of one candidate now: it opens, or what it waits for (E2, T2)."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import Charge, MutableAmounts, canonical, is_card
from ..decisions.borrowing import MOST_LENT, with_borrowing
from ..decisions.gang_judgement import judge_gang
from ..decisions.group_judgement import judge_enqueue
from ..decisions.judgement import judge, judge_presence, judge_release
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..limits import GANG_KINDS
from ..messages import gang_messages
from ..pending.candidate import (
    BesideElastic,
    Candidate,
    Needs,
    NeverClosed,
    PodClass,
    Room,
    first_members,
)
from ..pods.pod_record import PodRecord, SortKey
from ..verdict import Outcome, Verdict
from ..vocabulary import COMPUTE_RESOURCES, Mode, Reason

_ENDLESS: Final = 2**62
"""The free amount of an unlimited dimension."""


@dataclass(slots=True, frozen=True)
class Opening:
    """Gates that open together, each with the cards its pod is charged for.

    With `gang` the group's minimum must be reserved first (T2). `asked` is what these members will
    be charged together, as judged. Without pods the group is enqueued: `asked` is reserved for pods
    that are not there yet, and nothing else is done (E1).
    """

    queue: str
    pods: tuple[tuple[PodRecord, Charge], ...]
    gang: PodGroupState | None = None
    asked: Charge = ()


@dataclass(slots=True, frozen=True)
class Wait:
    """A candidate does not fit. With `signature` it lacks room, as all with the same signature."""

    verdict: Verdict
    signature: Hashable = None
    needs: Needs | None = None


class ReleaseJudge:
    """Judges the candidates of one queue. Charges nothing."""

    def __init__(self, ledger: LedgerReader, account: AccountReader) -> None:
        self._ledger = ledger
        self._account = account

    def free(self, room: Room) -> int:
        """How much more of a dimension the queue may hold."""
        if isinstance(room, BesideElastic):
            return self.free(room.dimension) + self._account.row(room.dimension).elastic
        if isinstance(room, NeverClosed):
            return self.free(room.dimension)
        allowed = self._account.allowed(room)
        return _ENDLESS if allowed is None else allowed - self._account.row(room).charged

    def free_for_updates(self, card: str) -> int:
        """How much more of a card the queue may hold with what it lends to rolling updates (R6)."""
        allowed = self._account.allowed(card, self._account.lent(card)) or 0
        return allowed - self._account.row(card).charged

    @property
    def free_compute(self) -> tuple[int, ...]:
        """How much of cpu and memory is free, where limited: beside elastic pods, and with them."""
        limited = (d for d in COMPUTE_RESOURCES if self._account.limit(d) is not None)
        return tuple(self.free(room) for d in limited for room in (d, BesideElastic(d)))

    @property
    def kept_cards(self) -> frozenset[str]:
        """Cards that are released for one alone (L5)."""
        return frozenset(self._ledger.rooms_kept_in(self._account.name))

    def judge(self, candidate: Candidate) -> Opening | Wait:
        """Whether it opens, or is enqueued, now."""
        if candidate.group_to_enqueue is not None:
            return self._judge_enqueue(
                candidate, self._ledger.groups[candidate.group_to_enqueue.key]
            )
        first = self._ledger.pods[candidate.sort_key.uid]
        enforced = self._ledger.mode_in(first.facts.namespace) is Mode.ENFORCE
        if not enforced and not first.facts.oversized:
            return Opening(first.queue, ((first, ()),))
        if candidate.gang is not None:
            return self._judge_gang(candidate, first, self._ledger.groups[candidate.gang.key])
        verdict = judge_release(self._ledger, first)
        if verdict.fits:
            return Opening(first.queue, ((first, verdict.cards),))
        if verdict.outcome is not Outcome.WAITS:
            return Wait(verdict)
        return Wait(verdict, self.signature(candidate), self._needs(verdict))

    def borrow(self, uid: str) -> Opening | None:
        """Whether a pod goes now with cards that its queue lends (R6)."""
        record = self._ledger.pods[uid]
        asked = record.request.amount if record.request is not None else 0
        cards = record.request.cards[:MOST_LENT] if record.request is not None else ()
        lent, free = self._account.lent, self.free_for_updates
        if not self.kept_cards.isdisjoint(cards):
            return None
        if not any(lent(card) >= asked > 0 and free(card) >= asked for card in cards):
            return None
        verdict = with_borrowing(self._ledger, record.facts, judge_release(self._ledger, record))
        return Opening(record.queue, ((record, verdict.cards),)) if verdict.borrows else None

    def _judge_enqueue(self, candidate: Candidate, group: PodGroupState) -> Opening | Wait:
        if group.facts is None:
            return Wait(Verdict(Outcome.UNSEEN, self._account.name))
        found = judge_enqueue(self._ledger, group.facts, group.request)
        if found.verdict.fits:
            return Opening(self._account.name, (), group, found.amounts)
        if found.needs is None:
            return Wait(found.verdict)
        return Wait(found.verdict, self.signature(candidate), found.needs)

    def _judge_gang(
        self, candidate: Candidate, first: PodRecord, group: PodGroupState
    ) -> Opening | Wait:
        if group.backed_off:
            return Wait(Verdict(Outcome.UNSEEN, first.queue))
        missing = judge_presence(self._ledger, first)
        if missing is not None:
            return Wait(missing)
        if group.started:
            # Its members go one by one now, which the pending queue does not know yet.
            return Wait(Verdict(Outcome.UNSEEN, first.queue))
        not_ready = _judge_readiness(self._account, group)
        if not_ready is not None:
            return Wait(not_ready)
        members = self.starting(candidate, group)
        verdict, cards = judge_gang(self._ledger, members)
        runs_already = group.missing < group.minimum
        chosen, fits = members, verdict.fits
        if not fits and runs_already:
            chosen = self._smallest(candidate, group)
            again, cards = judge_gang(self._ledger, chosen) if chosen else (verdict, [])
            fits = again.fits
        if fits:
            pods = tuple(zip(chosen, cards, strict=True))
            return Opening(first.queue, pods, group, self._asked(pods))
        if runs_already:
            # Whatever the first members lack, others may fit once anything is free.
            needs = self._more(self._members(candidate, len(group.members), {}))
        elif verdict.outcome is Outcome.WAITS:
            needs = self._needs(verdict, members)
        else:
            return Wait(verdict)
        return Wait(verdict, self.signature(candidate), needs)

    def starting(self, candidate: Candidate, group: PodGroupState) -> list[PodRecord]:
        """The members that are still missing, by number and by task (E2)."""
        return self._members(candidate, group.missing, group.missing_by_task)

    def _members(
        self, candidate: Candidate, number: int, by_task: Mapping[str, int]
    ) -> list[PodRecord]:
        sort_keys = first_members(candidate.classes, number, by_task)
        return [self._ledger.pods[sort_key.uid] for sort_key in sort_keys]

    def _smallest(self, candidate: Candidate, group: PodGroupState) -> list[PodRecord]:
        """For a minimum that lost members while it ran: of those that fit by themselves the ones
        with the fewest cards, and then the least cpu and memory, among them as many of each task as
        must be. A member that replaces a lost one must not wait behind an extra one that does not
        fit. Of very many kinds of a task only some are considered.

        Not guaranteed: that members are found whenever some fit together. Those not found wait for
        more room.
        """
        pods, ledger = self._ledger.pods, self._ledger

        def size(pod_class: PodClass) -> tuple[int, int, int, SortKey]:
            first = pod_class.sort_keys[0]
            request = pods[first.uid].request
            asked = (request.amount, request.cpu, request.memory) if request else (0, 0, 0)
            return *asked, first

        tried, rows = Counter[str](), dict[str, list[tuple[tuple[int, int, int], SortKey]]]()
        for one in sorted(candidate.classes, key=size):
            task, first = one.task, pods[one.sort_keys[0].uid]
            tried[task] += 1
            if tried[task] <= GANG_KINDS.most and judge(ledger, first.facts, first.queue).fits:
                asked = size(one)[:3]
                row = rows.setdefault(task, [])
                row += [(asked, sort_key) for sort_key in one.sort_keys[: group.missing]]
        chosen = list[tuple[tuple[int, int, int], SortKey]]()
        for task, must in group.missing_by_task.items():
            row = sorted(rows.pop(task, []))
            if len(row) < must:
                return []
            chosen += row[:must]
            rows[task] = row[must:]
        others = sorted(chain.from_iterable(rows.values()))
        chosen += others[: group.missing - len(chosen)]
        whole = len(chosen) == group.missing
        return [pods[key.uid] for key in sorted(key for _, key in chosen)] if whole else []

    def _asked(self, chosen: Sequence[tuple[PodRecord, Charge]]) -> Charge:
        """What the members that start will be charged together."""
        total: MutableAmounts = {}
        alike: dict[tuple[int, Charge], Charge] = {}
        for record, cards in chosen:
            key = id(record if record.class_key is None else record.class_key), cards
            charge = alike.get(key)
            if charge is None:
                charge = alike[key] = self._ledger.with_cpu_memory(
                    record.facts, record.queue, dict(cards)
                )
            for dimension, amount in charge:
                total[dimension] = total.get(dimension, 0) + amount
        return canonical(total)

    # --- what is asked for --------------------------------------------------------------------

    def asked_by(self, candidate: Candidate) -> frozenset[str]:
        """What it asks for: of a choice of cards, each of them. A gang that has not begun: what its
        first members ask for. One that has begun may go on with any of its members.
        """
        if candidate.group_to_enqueue is not None:
            whole = self._ledger.groups[candidate.group_to_enqueue.key].request
            # Pods that ask for cards may be free of cpu and memory (P6).
            free = self._ledger.settings.exempt_cpu_memory and whole.cards
            return whole.dimensions.difference(COMPUTE_RESOURCES if free else ())
        uids = [pod_class.sort_keys[0].uid for pod_class in candidate.classes]
        if candidate.gang is not None:
            group = self._ledger.groups[candidate.gang.key]
            number = sum(len(pod_class.sort_keys) for pod_class in candidate.classes)
            if group.missing == group.minimum < number:
                uids = [record.facts.uid for record in self.starting(candidate, group)]
        found = (self._ledger.pods[uid].request for uid in uids)
        asked = set[str]()
        for request in {id(request): request for request in found if request is not None}.values():
            asked.update(request.cards, (dimension for dimension, _ in request.cpu_memory))
        return frozenset(asked)

    def is_reserved(self, candidate: Candidate) -> bool:
        """Whether something is reserved for its gang, or room is made for it (L5): no card is
        closed to that.
        """
        gang = candidate.gang or candidate.classes[0].gang
        group = self._ledger.groups.get(gang.key) if gang is not None else None
        reserved = group is not None and group.rests_in == self._account.name
        return reserved or self._is_room_kept(candidate)

    def _is_room_kept(self, candidate: Candidate) -> bool:
        """Whether room is made for this pod, or for the gang that it completes (L5)."""
        rooms = self._ledger.kept_rooms
        if not rooms:
            return False
        first = candidate.classes[0]
        gang = candidate.gang or first.gang
        group = self._ledger.groups.get(gang.key) if gang is not None else None
        begins = group is not None and group.gang and group.missing > 0
        as_gang = gang is not None and begins and gang.key in rooms
        return as_gang or first.sort_keys[0].uid in rooms

    # --- room ---------------------------------------------------------------------------------

    def signature(self, candidate: Candidate) -> Hashable:
        """Equal for candidates of which all fit or none does."""
        if candidate.group_to_enqueue is not None:
            return ("enqueues", self._ledger.groups[candidate.group_to_enqueue.key].request)
        if candidate.gang is None:
            record = self._ledger.pods[candidate.sort_key.uid]
            group = self._ledger.groups.get(record.facts.group)
            covered = group is not None and group.reservation is not None
            alone = record.facts.uid if self._is_room_kept(candidate) else None
            return (record.request, record.facts.group if covered else None, alone)
        group = self._ledger.groups[candidate.gang.key]
        if group.missing != group.minimum or group.reservation is not None:
            return group.key
        if self._is_room_kept(candidate):
            return group.key
        # By identity: pods with the same text share one request, and there may be thousands.
        requests = [record.request for record in self.starting(candidate, group)]
        numbers = Counter(map(id, requests))
        kinds = {id(request): request for request in requests}
        return tuple((request, numbers[key]) for key, request in kinds.items())

    def _needs(self, verdict: Verdict, gang: Sequence[PodRecord] = ()) -> Needs:
        """How much must be free before it could fit. Never too much."""
        if any(record.request and len(record.request.cards) > 1 for record in gang):
            return self._more(gang)
        row = self._account.row
        needs = [(s.dimension, s.would_be - row(s.dimension).charged) for s in verdict.shortfalls]
        cards = [one for one in needs if is_card(one[0])]
        return dict(cards or needs)

    def _more(self, gang: Sequence[PodRecord]) -> Needs:
        """The needs of members with a choice: any amount beyond what is free now may suffice."""
        requests = (record.request for record in gang)
        wanted = {card for request in requests if request for card in request.cards}
        free = {d: self.free(d) for d in sorted(wanted.union(COMPUTE_RESOURCES))}
        return {d: now + 1 for d, now in free.items() if now < _ENDLESS}


def judge_member(ledger: LedgerReader, record: PodRecord) -> Verdict:
    """The verdict on one pod at the gate, which waits for others of its group or by itself.

    It does not judge whether a gang that starts whole fits: then the verdict has no reason.
    """
    verdict = judge_release(ledger, record)
    account, group = ledger.account(record.queue), ledger.groups.get(record.facts.group)
    if verdict.outcome is not Outcome.UNSEEN or verdict.reason is not None:
        return verdict
    if (
        account is None
        or group is None
        or group.started
        or group.being_reserved
        or group.backed_off
    ):
        return verdict
    return _judge_readiness(account, group) or verdict


def _judge_readiness(account: AccountReader, group: PodGroupState) -> Verdict | None:
    """What a gang with all its members waits for, if too few of them can be tried in this queue.

    Without a reason for members whose gates just failed to open: they were told, and are retried.
    """
    ready, missing, by_task = (
        account.pending.numbers_of(group),
        group.missing,
        group.missing_by_task,
    )
    if _enough(ready, missing, by_task):
        return None
    members = group.members.values()
    backed_off = (one for one in members if one.backed_off and one.queue == account.name)
    ready.update(record.facts.task for record in backed_off)
    if _enough(ready, missing, by_task):
        return Verdict(Outcome.UNSEEN, account.name)
    tasks = [(task, least, ready[task]) for task, least in by_task.items() if ready[task] < least]
    if tasks:
        text = gang_messages.gang_tasks_not_ready(group.key, account.name, tasks)
    else:
        number = ready.total()
        text = gang_messages.gang_not_ready(group.key, account.name, group.minimum, missing, number)
    return Verdict(Outcome.UNSEEN, account.name, Reason.GANG_INCOMPLETE, text)


def _enough(ready: Counter[str], missing: int, by_task: Mapping[str, int]) -> bool:
    return ready.total() >= missing and all(ready[task] >= n for task, n in by_task.items())
