"""Wakes workloads whose pods we refused, as many as have room, in the order of release (R5).

A condition that is written through the subresource `status` is a change of the object, upon which
its controller tries again at once: a ReplicaSet's, StatefulSet's or DaemonSet's within 0.1 s, a
Job's within 1.1 s. That needs no right over pod templates. A StatefulSet's controller drops the
condition when it next writes the status. A CronJob needs nothing: its Jobs are not refused.

Guarantees: only the leader wakes. Where a queue has room for one pod, one workload is woken. One
that was woken in vain is left alone for a pause that doubles, and holds up no other. A bounded
number of writes is under way.
Not guaranteed: that a workload is woken by us: its controller also tries by itself, and another
reason may keep its pods out.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Final

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import STRATEGIC_PATCH, Client
from ..cluster.watch.delivery import ChangeNotifier
from ..loop.timing import LEADER_SLICE, TimeSlice, ended
from ..quota import vocabulary as v
from ..quota.decisions.waking import RefusedWorkload, refused_workload, with_room
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.messages import workload_messages
from ..quota.pods.pod_request import PodRequest
from ..quota.pods.workload_facts import WorkloadFacts
from ..quota.words import logged, time_text

_LOG = logging.getLogger(__name__)
SOON: Final = 0.02
"""Seconds between a change of the ledger and the look that follows it: gates are opened first."""
EXPECTED: Final = 2.0
"""Seconds within which a woken controller makes its pods. It takes 0.3 s."""
SETTLED: Final = 2.0
"""Seconds for which a controller that does not report refusals must have stood still."""
FIRST: Final = 4.0
"""Seconds after which one that was woken in vain is woken again, at first."""
LONGEST: Final = 300.0
"""The same at most."""
AT_A_TIME: Final = 16
"""Writes under way."""
MOST_WOKEN: Final = 64
"""Workloads that were woken and whose pods are expected: beyond that nobody is woken until some of
them have come, or their time is over."""
MOST: Final = 5_000
"""Workloads that sleep and are looked at. Of more, those that came last try by themselves alone."""
NOTE_AGAIN: Final = 60.0
"""Seconds after which all are read anew: the queue of a namespace may have changed, or a priority
class."""
_SHARE: Final = 10
"""So many times as long as a look took nobody looks again: thousands may sleep."""
_TIMEOUT: Final = 2.0
"""Seconds for one write."""


@dataclass(slots=True)
class _Woken:
    """A workload that was woken, and the pods that are expected of it."""

    queue: str
    namespace: str
    maker: tuple[str, str]
    request: PodRequest
    facts: WorkloadFacts
    """As it was then."""
    number: int
    before: int = 0
    """How many pods it had."""
    missing: int = 0
    """How many are still expected."""
    until: float = inf
    """Until when; known once the write was answered."""


@dataclass(slots=True)
class _Pause:
    seconds: float
    due: float
    seen: bool = False
    """Whether it was looked at when the time had come."""


class WorkloadWaker:
    """The workloads that sleep, and those that were just woken. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: LedgerReader,
        notifier: ChangeNotifier,
        client: Client,
        clock: Callable[[], float],
        woken: Callable[[], None],
        *,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock`: seconds, monotonic. `woken`: called for each that was woken. `wall_clock`:
        seconds since 1970.
        """
        self._ledger = ledger
        self._client = client
        self._clock = clock
        self._count = woken
        self._wall_clock = wall_clock
        self._first_queue = 0
        """With which queue the next look begins: each has its turn."""
        self._note_all_at = 0.0
        self._cost = 0.0
        """Seconds that the last look took."""
        self._leads = False
        self._sleeping: dict[str, dict[str, RefusedWorkload]] = {}
        """By queue and uid."""
        self._queues: dict[str, str] = {}
        """By uid: the queue under which it is noted."""
        self._looked: dict[str, object] = {}
        """By queue: its state when it was looked at, if nothing was left to do."""
        self._woken: dict[str, _Woken] = {}
        """By uid."""
        self._pauses: dict[str, _Pause] = {}
        """By uid of a sleeper."""
        self._timer: asyncio.TimerHandle | None = None
        self._look: asyncio.Task[None] | None = None
        self._again = False
        self._writes: set[asyncio.Task[None]] = set()
        self._at_a_time = asyncio.Semaphore(AT_A_TIME)
        notifier.listen(self._changed)

    # --- a term -------------------------------------------------------------------------------

    def begin(self, _: str) -> None:
        """Wake from now on."""
        self._leads = True
        self._ledger.workloads.ask(asked=True)
        self._look_in(SOON)

    async def drain(self, _: float) -> bool:
        """Wake nobody any more. What was sent harms nobody, whenever it lands."""
        self._leads = False
        return True

    async def end(self) -> None:
        """The term is over."""
        self._leads = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await ended([*self._writes, *([self._look] if self._look is not None else [])])
        self._look = None
        for kept in (self._sleeping, self._queues, self._looked, self._woken, self._pauses):
            kept.clear()
        self._ledger.workloads.ask(asked=False)

    @property
    def all_seen(self) -> bool:
        """Nothing that a successor has to know is decided here."""
        return True

    def __len__(self) -> int:
        """How many sleep."""
        return len(self._queues)

    # --- when to look -------------------------------------------------------------------------

    def _changed(self) -> None:
        if self._leads and (self._ledger.workloads.refused or self._queues):
            self._look_in(SOON)

    def _look_in(self, seconds: float) -> None:
        """Look after so many seconds, or sooner if that was to be; later after a look that took
        long.
        """
        loop = asyncio.get_running_loop()
        when = loop.time() + max(SOON, seconds, _SHARE * self._cost)
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = loop.call_at(when, self._look_now)

    def _look_now(self) -> None:
        self._timer = None
        if self._look is not None:
            self._again = True
            return
        self._look = asyncio.get_running_loop().create_task(self.look())
        self._look.add_done_callback(self._looked_at_all)

    def _looked_at_all(self, task: asyncio.Task[None]) -> None:
        self._look = None
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("a look at workloads to be woken failed", exc_info=error)
        if self._leads and self._again:
            self._again = False
            self._look_in(SOON)

    # --- a look -------------------------------------------------------------------------------

    async def look(self) -> None:
        """Wake those that have room. Done by itself soon after the ledger has changed."""
        slice_, begun = TimeSlice(LEADER_SLICE, self._clock), self._clock()
        self._ledger.lending.settle()  # a queue may hold more since others hold less
        news = self._ledger.workloads.take_refused_news()
        if begun >= self._note_all_at:
            self._note_all_at = begun + NOTE_AGAIN
            news = list(dict.fromkeys([*news, *self._queues, *self._ledger.workloads.refused]))
        for uid in news:
            with _one_harms_no_other(uid):
                self._note(uid)
            await slice_.give_way()
        there: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
        for uid, one in list(self._woken.items()):
            where = one.queue, one.namespace
            if where not in there:
                there[where] = self._ledger.made_pods.living_by_controller(*where)
                await slice_.give_way()
            with _one_harms_no_other(uid):
                self._follow(uid, there[where][one.maker])
            await slice_.give_way()
        queues = list(self._sleeping)
        first = self._first_queue % max(1, len(queues))
        self._first_queue += 1
        soonest = LONGEST
        for queue in (*queues[first:], *queues[:first]):
            with _one_harms_no_other(queue):
                for step in self._look_at(queue):
                    if step is not None:
                        soonest = min(soonest, step)
                    await slice_.give_way()
        now = self._clock()
        self._cost = now - begun
        times = (self._note_all_at, *(one.until for one in self._woken.values()))
        soonest = min(soonest, *(time - now for time in times))
        if self._leads and self._queues:
            self._look_in(soonest)

    def _note(self, uid: str) -> None:
        """Take in that a workload sleeps, has changed, or sleeps no more."""
        before = self._queues.pop(uid, None)
        if before is not None:
            del self._sleeping[before][uid]
            if not self._sleeping[before]:
                del self._sleeping[before]
                self._looked.pop(before, None)
        facts = self._ledger.workloads.refused.get(uid)
        found = None
        if facts is not None and len(self._queues) < MOST:
            found = refused_workload(self._ledger, facts)
        if found is None:
            self._pauses.pop(uid, None)
            return
        if not found.facts.certain:
            # Its pods may be about to come: until nothing happens any more it is left alone.
            self._settle(uid)
        self._queues[uid] = found.queue
        self._sleeping.setdefault(found.queue, {})[uid] = found
        self._looked.pop(found.queue, None)

    def _settle(self, uid: str) -> None:
        due = self._clock() + SETTLED
        pause = self._pauses.get(uid)
        if pause is None:
            self._pauses[uid] = _Pause(FIRST / 2, due)
        else:
            pause.due, pause.seen = max(pause.due, due), False

    def _look_at(self, queue: str) -> Iterator[float | None]:
        """Wake those of a queue that have room. Yields in how many seconds the next of them may be
        woken, and None after each step.
        """
        account = self._ledger.account(queue)
        if account is None or not self._leads:
            return
        state = (account.changes, account.quota_mark, account.facts)
        now, soonest, over = self._clock(), LONGEST, False
        awake = []
        for uid, one in self._sleeping[queue].items():
            pause = self._pauses.get(uid)
            if pause is not None and pause.due > now:
                soonest = min(soonest, pause.due - now)
            elif uid not in self._woken:
                awake.append(one)
                over = over or (pause is not None and not pause.seen)
                if pause is not None:
                    pause.seen = True
        yield soonest
        if not awake or (self._looked.get(queue) == state and not over):
            return
        awake.sort(key=lambda one: one.sort_key)
        yield None
        to_come = [
            (one.request, one.missing)
            for one in self._woken.values()
            if one.queue == queue and one.missing
        ]
        for found in with_room(self._ledger, queue, awake, to_come):
            if found is not None:
                if len(self._woken) >= MOST_WOKEN or not self._leads:
                    self._looked.pop(queue, None)
                    return
                self._wake(*found)
            yield None
        self._looked[queue] = state

    def _follow(self, uid: str, number: int) -> None:
        """See how many pods of a woken workload came, which has this number now. It is done with
        when its time is over, or when all came and its status, or its end, has been seen since.
        """
        one = self._woken[uid]
        came = max(0, number - one.before)
        one.missing = max(0, one.number - came)
        if came:
            self._pauses.pop(uid, None)
        news = self._ledger.workloads.refused.get(uid) is not one.facts
        if one.until <= self._clock() or (not one.missing and news):
            del self._woken[uid]
            self._looked.pop(one.queue, None)

    # --- one workload -------------------------------------------------------------------------

    def _wake(self, one: RefusedWorkload, number: int) -> None:
        facts, now = one.facts, self._clock()
        pause = self._pauses.get(facts.uid)
        seconds = FIRST if pause is None else min(LONGEST, 2 * pause.seconds)
        self._pauses[facts.uid] = _Pause(seconds, now + seconds)
        woken = _Woken(
            queue=one.queue,
            namespace=facts.namespace,
            maker=(facts.kind, facts.name),
            request=self._ledger.request_of(one.pod, one.queue),
            facts=facts,
            number=number,
            missing=number,
        )
        woken.before = self._ledger.made_pods.living_by_controller(one.queue, facts.namespace)[
            woken.maker
        ]
        self._woken[facts.uid] = woken
        task = asyncio.get_running_loop().create_task(self._write(one, number))
        self._writes.add(task)
        task.add_done_callback(self._written)

    def _written(self, task: asyncio.Task[None]) -> None:
        self._writes.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("a workload could not be woken", exc_info=error)
        if self._leads:
            self._look_in(SOON)

    async def _write(self, one: RefusedWorkload, number: int) -> None:
        facts = one.facts
        condition = {
            "type": v.WOKEN_CONDITION,
            "status": "True",
            "reason": v.QUOTA_FREE,
            "message": workload_messages.woken(one.queue, number),
        }
        group = "batch" if facts.kind == "Job" else "apps"
        place = f"namespaces/{facts.namespace}/{facts.kind.lower()}s/{facts.name}"
        body = {"metadata": {"uid": facts.uid}, "status": {"conditions": [condition]}}
        try:
            async with self._at_a_time:
                if not self._leads:
                    return
                condition["lastTransitionTime"] = time_text(int(self._wall_clock()))
                await self._client.patch(
                    f"/apis/{group}/v1/{place}/status",
                    body,
                    content_type=STRATEGIC_PATCH,
                    timeout=_TIMEOUT,
                )
        except (ApiError, OutcomeUnknown) as error:
            _LOG.info(
                "waking %s %s failed: %s", facts.kind, logged(facts.namespace, facts.name), error
            )
        else:
            self._count()
            _LOG.info("woken: %s %s", facts.kind, logged(facts.namespace, facts.name))
        finally:
            if (woken := self._woken.get(facts.uid)) is not None:
                woken.until = self._clock() + EXPECTED


@contextmanager
def _one_harms_no_other(which: str) -> Iterator[None]:
    """An error is logged, and the others go on."""
    try:
        yield
    except Exception:  # noqa: BLE001
        _LOG.exception("%s: not looked at, to be woken", which)
