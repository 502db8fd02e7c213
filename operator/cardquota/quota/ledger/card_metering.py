"""Counts card-seconds while this replica leads (T5), on from what the status of queues says.

A new leader starts from what was last written, and from when that was:

- what a pod holds now counts from then, or from when the pod was bound, if that was later;
- what was held then and is gone counts until the former leader last renewed the Lease: while it
  lived, a change was written within about a second;
- so what pods hold beyond what was held then, though they were bound before, came to the queue
  after that renewal, and counts from it: the last write may be months old.

So what came and went between the last write and the new leader is lost, and no more.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from ..accounts.account import Account
from ..accounts.card_seconds import CardSeconds
from ..accounts.queue_facts import QueueFacts
from ..amounts import MutableAmounts
from ..moments import read_moment
from ..pods.charge_state import ChargeState
from ..pods.pod_record import PodRecord
from ..steps import Steps
from ..vocabulary import COMPUTE_RESOURCES

_ALLOCATED: Final = ChargeState.ALLOCATED
_AT_ONCE: Final = 64
"""Pods that are looked at in one step."""


class _TermStart(NamedTuple):
    """A queue whose count begins."""

    seconds: CardSeconds
    now: int
    """By the time of day."""
    since: int
    """Until when its status says what was counted, by the time of day; not later than now."""
    missing: MutableAmounts
    """What was held then, less the pods that are there and were bound by then. Negative: these hold
    more, so it was another queue's, or another card, then."""


class CardMetering:
    """At rest until a term begins: then no account counts, and a change costs nothing.

    Guarantees: a change costs in proportion to the dimensions of its pod; within a term no count
    goes back, whatever the time of day does; a status that says nonsense counts as zero or as far
    as it may be true. Not guaranteed: that changes within a few milliseconds of the beginning of a
    term count to the millisecond.
    """

    def __init__(self, accounts: Mapping[str, Account], pods: Mapping[str, PodRecord]) -> None:
        """Both are the ledger's."""
        self._accounts = accounts
        self._pods = pods
        self._now: Callable[[], int] | None = None

    def begin(
        self, now: Callable[[], int], time_of_day: int, *, renewed: int | None, longest: int
    ) -> Steps[None]:
        """A term begins. Costs in proportion to all queues and pods, once.

        All in milliseconds. `now`: monotonic. `renewed`: the former leader's last renewal, by the
        time of day; None if that is not known. `longest`: for how long after a write what is gone
        may have been held at most.
        """
        self._now = now
        ahead = time_of_day - now()
        records = list(self._pods.values())
        starts: dict[str, _TermStart] = {}
        moments: dict[str, int | None] = {}
        for account in list(self._accounts.values()):
            yield
            if account.facts is not None:
                starts[account.name] = _take_over(account, account.facts, now, now() + ahead)
        for first in range(0, len(records), _AT_ONCE):
            yield
            for record in records[first : first + _AT_ONCE]:
                start = starts.get(record.queue)
                if start is not None and record.charge_state is _ALLOCATED:
                    _count_pod(start, record, moments)
        for start in starts.values():
            yield
            _count_others(start, renewed, longest)
            start.seconds.complete = True

    def end(self) -> None:
        """The term is over: count nothing."""
        self._now = None
        for account in self._accounts.values():
            account.card_seconds = None

    def queue_seen(self, account: Account, before: QueueFacts | None) -> None:
        """A queue was added or changed, and was this before. A new one counts from now."""
        facts = account.facts
        if self._now is None or facts is None:
            return
        if account.card_seconds is None or before is None or before.uid != facts.uid:
            account.card_seconds = _counting(account, self._now)

    def queue_gone(self, account: Account) -> None:
        """A queue was deleted, and with it what it has counted."""
        account.card_seconds = None


def _counting(account: Account, now: Callable[[], int]) -> CardSeconds:
    """One that counts what the account holds from now on."""
    seconds = CardSeconds(now)
    for dimension, row in account.rows.items():
        if row.allocated:
            seconds.change(dimension, row.allocated)
    return seconds


def _take_over(
    account: Account, facts: QueueFacts, now: Callable[[], int], time_of_day: int
) -> _TermStart:
    seconds = account.card_seconds = _counting(account, now)
    seconds.complete = False
    until = read_moment(facts.counted_until)
    since = time_of_day if until is None else min(until, time_of_day)
    missing: MutableAmounts = {}
    for card, counted in facts.counted.items():
        seconds.add(card, counted.seconds * 1000)
        missing[card] = counted.allocated
    return _TermStart(seconds, time_of_day, since, missing)


def _count_pod(start: _TermStart, record: PodRecord, moments: dict[str, int | None]) -> None:
    """What a pod has held since the last write. `moments`: times that were read already."""
    facts, since = record.facts, start.since
    text = facts.scheduled or facts.created
    bound = moments[text] if text in moments else moments.setdefault(text, read_moment(text))
    there = bound is None or bound <= since
    held = start.now - since if there or bound is None else max(0, start.now - bound)
    for card, amount in record.charge:
        if card in COMPUTE_RESOURCES:
            continue
        if held:
            start.seconds.add(card, amount * held)
        if there:
            start.missing[card] = start.missing.get(card, 0) - amount


def _count_others(start: _TermStart, renewed: int | None, longest: int) -> None:
    """What was held at the last write and is gone counts until the former leader's last renewal.
    What has come to the queue since, of pods that were bound before, counts only from then; from
    now where that is not known.
    """
    last = start.since if renewed is None else min(max(renewed, start.since), start.now)
    before = (start.now if renewed is None else last) - start.since
    for card, amount in start.missing.items():
        if amount > 0:
            start.seconds.add(card, amount * min(last - start.since, longest))
        elif amount < 0:
            start.seconds.add(card, amount * before)
