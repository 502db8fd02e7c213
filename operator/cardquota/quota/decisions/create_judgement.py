"""May this pod be created? The question of release, asked earlier (E2).

Pods on their way through the gate under policy Deny count as released. A pod is on its way if it
could go now: the leader would open its gate. A pod that waits for anything but quota (its group,
its node, an open queue, or a pod before it in a fifo queue), or for more quota than there is,
counts against no other pod. Nor does a pod beyond the bounds below, nor a member of a group for
which something is reserved in the queue: that is charged already.

Who has a choice counts with the first of its cards that is left. So a pod may be admitted that then
waits at the gate, or be refused for the moment that the leader takes to decide.
Pure questions to the ledger: nothing is charged here.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import NO_AMOUNTS, Amounts, add_amounts
from ..ledger.ledger_reader import LedgerReader
from ..pending.candidate import Gang, PodClass, Precedence, ReleaseKey, first_members, precedence_of
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest
from ..verdict import Effect, Outcome, Verdict, effect_of
from .borrowing import lent_now
from .judgement import judge, judge_new, judge_presence
from .queue_room import QueueRoom

MOST_CLASSES: Final = 32
"""Classes of waiting pods that one question looks at. Beyond that a pod may be admitted that should
have been refused: it is gated."""
MOST_KINDS: Final = 32
"""The same bound for kinds of members, of all gangs among them that start whole."""
MOST_MEMBERS: Final = 2_048
"""The same bound for the members of these gangs."""
_SORTED: Final = 1_000
"""Classes of waiting pods up to which it is known who is held up."""
_NOBODY: Final[Mapping[Hashable, int]] = {}

ToCome = Sequence[tuple[PodRequest, int]]
"""What pods will ask for that do not exist yet, and how many ask for the same."""


def judge_create(ledger: LedgerReader, facts: PodFacts, *, require_queue: bool = False) -> Verdict:
    """The verdict on a pod that is being created."""
    extra = on_the_way(ledger, ledger.account(ledger.queue_of(facts)))
    return judge_new(ledger, facts, require_queue=require_queue, extra=extra)


def on_the_way(
    ledger: LedgerReader,
    account: AccountReader | None,
    *,
    but: Mapping[Hashable, int] = _NOBODY,
    to_come: ToCome = (),
) -> Amounts:
    """What a queue's gated Deny pods that could go now will hold, and pods `to_come` with them.
    `but`: pods left out, by class.

    Costs a judgement for each kind of pod, with bounds; nothing if there are none.
    """
    if account is None or not (account.pending.deny_classes or to_come):
        return NO_AMOUNTS
    room = QueueRoom(account)
    for request, number in to_come:
        _add(room, request, number)
    for record, number in _that_could_go(ledger, account, but):
        if number > 0 and record.request is not None:
            _add(room, record.request, number)
    return room.extra


def _add(room: QueueRoom, request: PodRequest, number: int) -> None:
    """Count so many equal pods: on the first of their cards that is left, the rest on the first."""
    without_room = number - room.take(request, number)
    cards = [(card, request.amount) for card in request.cards[:1]]
    asked = (*cards, *request.cpu_memory)
    add_amounts(room.extra, ((d, amount * without_room) for d, amount in asked))


def number_admitted(
    ledger: LedgerReader, pod: PodFacts, queue: str, number: int, to_come: ToCome
) -> int:
    """How many of so many equal pods would be admitted beside those `to_come`. None where pods
    without room wait at the gate, or pass: these take nothing away from others.
    """
    account = ledger.account(queue)
    policy, mode = ledger.policy_of(pod, queue), ledger.mode_in(pod.namespace)
    if account is None or effect_of(Outcome.WAITS, policy, mode) is not Effect.DENY:
        return 0
    extra = on_the_way(ledger, account, to_come=to_come)
    verdict = judge_new(ledger, pod, extra=extra)
    if not verdict.fits:
        return 0
    if verdict.borrows:
        ((card, amount),) = verdict.cards
        return min(number, lent_now(account, card, extra) // amount)
    group = ledger.groups.get(pod.group) if pod.group else None
    return QueueRoom(account, group, extra).take(ledger.request_of(pod, queue), number)


def _is_reserved_for(ledger: LedgerReader, record: PodRecord) -> bool:
    """Whether a pod's group has a reservation in the pod's queue."""
    group = ledger.groups.get(record.facts.group) if record.facts.group else None
    reservation = group.reservation if group is not None else None
    return reservation is not None and reservation.queue == record.queue


def _that_could_go(
    ledger: LedgerReader, account: AccountReader, left_out: Mapping[Hashable, int]
) -> Iterator[tuple[PodRecord, int]]:
    """One pod of each kind that could go now, and how many equal pods go."""
    gangs, members, kinds = set[str](), MOST_MEMBERS, MOST_KINDS
    held_up = _HeldUp(ledger, account)
    for key, number in islice(account.pending.deny_classes.items(), MOST_CLASSES):
        pod_class = account.pending.classes[key]
        if pod_class.gang is None or pod_class.gang.started:
            first = ledger.pods[pod_class.sort_keys[0].uid]
            if _is_reserved_for(ledger, first):
                continue
            going = held_up.going(first, pod_class)
            if going and _could_go(ledger, first):
                yield first, min(going, number - left_out.get(key, 0))
        elif pod_class.gang.key not in gangs:
            gangs.add(pod_class.gang.key)
            group = ledger.groups[pod_class.gang.key]
            missing = group.missing
            if missing > members or group.to_be_replaced:
                continue  # what is reserved for them is charged already
            members -= missing
            starting = _members(ledger, account, pod_class.gang, missing)
            if len(starting) > kinds:
                continue
            kinds -= len(starting)
            if _could_start(ledger, account, starting):
                for member, alike in starting:
                    yield member, 0 if left_out.get(member.class_key) else alike


def _could_go(ledger: LedgerReader, record: PodRecord) -> bool:
    if judge_presence(ledger, record) is not None:
        return False
    return judge(ledger, record.facts, record.queue).fits


def _members(
    ledger: LedgerReader, account: AccountReader, gang: Gang, missing: int
) -> list[tuple[PodRecord, int]]:
    """One of each kind of members that a gang would start with now, and the number of each; empty
    if they are too few.
    """
    by_task = ledger.groups[gang.key].missing_by_task
    sort_keys = first_members(account.pending.classes_of(gang), missing, by_task)
    members = [ledger.pods[sort_key.uid] for sort_key in sort_keys]
    if len(members) < missing:
        return []
    firsts = {id(record.class_key): record for record in reversed(members)}
    numbers = Counter(id(record.class_key) for record in members)
    return [(firsts[pod_class], number) for pod_class, number in numbers.items()]


def _could_start(
    ledger: LedgerReader, account: AccountReader, members: Sequence[tuple[PodRecord, int]]
) -> bool:
    if not members or judge_presence(ledger, members[0][0]) is not None:
        return False
    room = QueueRoom(account)
    return all(
        record.request is not None
        and judge(ledger, record.facts, record.queue).fits
        and room.take(record.request, number) == number
        for record, number in members
    )


class _HeldUp:
    """The pods that are certainly held up: in a `fifo` queue they are behind a pod that has no room
    now. Pods behind a gang are not known here.
    """

    def __init__(self, ledger: LedgerReader, account: AccountReader) -> None:
        self._account = account
        self._since: dict[str, ReleaseKey] = {}
        """By card: the place after which none that asks for it goes."""
        self._precedences: dict[str, Precedence] = {}
        """By key of the gang; empty for pods that are in none."""
        classes = account.pending.classes
        if account.facts is None or not account.facts.fifo or len(classes) > _SORTED:
            return
        for pod_class in nsmallest(MOST_CLASSES, classes.values(), key=self._place):
            first = ledger.pods[pod_class.sort_keys[0].uid]
            alone = pod_class.gang is None or pod_class.gang.started
            if not alone or not self.going(first, pod_class):
                continue
            if judge_presence(ledger, first) is not None:
                continue
            if judge(ledger, first.facts, first.queue).outcome is Outcome.WAITS:
                for card in first.request.cards if first.request else ():
                    self._since.setdefault(card, self._place(pod_class))

    def _place(self, pod_class: PodClass) -> ReleaseKey:
        return self._precedence(pod_class).key_of(pod_class.sort_keys[0])

    def _precedence(self, pod_class: PodClass) -> Precedence:
        gang, account = pod_class.gang, self._account
        key = gang.key if gang is not None else ""
        found = self._precedences.get(key)
        if found is None:
            found = precedence_of(gang, account.name, account.limit)
            self._precedences[key] = found
        return found

    def going(self, record: PodRecord, pod_class: PodClass) -> int:
        """How many pods of a class do not have to wait for a pod before them."""
        cards = record.request.cards if record.request else ()
        since = [self._since[card] for card in cards if card in self._since]
        if not since:
            return len(pod_class.sort_keys)
        return bisect_left(pod_class.sort_keys, min(since), key=self._precedence(pod_class).key_of)
