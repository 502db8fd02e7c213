"""Writes the numbers of queues: at most once per queue and second, never unchanged.

The status is computed when a write is due, so the work for a queue does not depend on how often its
numbers change.

What a queue deserves, and whether its cards are oversold, depends on the quotas of all queues. If
nothing else has changed, writes take turns: one new queue must not cause a thousand writes at once,
which would keep the API server from all other work.

Lives in the loop of the Kopf thread. The wanted status comes from the ledger's loop, the stored one
from Kopf's watch. A difference is written, so an edit by hand does not last. The two sources report
the end of a queue and the start of another with its name in any order: each takes back only what it
reported itself.

The state may be somebody else's (Q6), and so may a first annotation. So they are written only on
the queue as it was seen: if Volcano's tools close a queue while a write is on its way, the API
server refuses the write, and the next one waits until the queue is seen again.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ...cluster.api import wire
from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.backoff import Backoff
from ...quota import vocabulary as v
from ...quota.reports.queue_report import QueueReport
from .condition_changes import ConditionChange, condition_changes
from .published_status import Published, StatusFields, StatusPlace, Write
from .queue_status import queue_status

_LOG = logging.getLogger(__name__)
INTERVAL: Final = 1.0
"""Seconds between two writes of one queue."""
_LONGEST: Final = 60.0
"""Seconds between two tries of a write that keeps failing."""
_NO_ROOM: Final = "queue %s: its other annotations leave no room for %s: remove some"
_ABSENT: Final = {"waiting": {"pods": 0}}
"""What an absent field of the status says."""
TURN: Final = 0.05
"""Seconds between two writes that only other queues' quotas caused."""


class Applier(Protocol):
    """The part of a client that is needed here."""

    async def patch(self, path: str, body: object, content_type: str) -> str:
        """A patch as our field manager. Returns the resourceVersion that this made.

        Raises ApiError or OutcomeUnknown.
        """


@dataclass(slots=True)
class _QueueEntry:
    report: QueueReport | None = None
    seen: Published | None = None
    """What is published, as last seen or written. None: not seen yet."""
    conditions: object = None
    """The last conditions that were published. Volcano takes them away with all else that is ours,
    and they hold since when they held."""
    uid: str | None = None
    """The uid of the queue of which that is; None if not known."""
    state: str = ""
    """Its state as it was seen. While that is Closing, Volcano's webhook refuses every update."""
    version: str = ""
    """The resourceVersion with which the queue was seen, or written; empty if not known."""
    others_state: bool = False
    """Whether somebody else wrote its state."""
    outdated: bool = False
    """Whether the queue has changed since it was seen: so nothing is written before it is seen
    again."""
    next_write: float = 0.0
    """On the loop's clock. Before then nothing is computed either."""
    stale: bool = False
    """Whether something has changed since the status was last computed."""
    without_room: bool = False
    """Whether nothing has room for what is to be published, which is told once."""
    writing: bool = field(default=False)
    backoff: Backoff = field(default_factory=lambda: Backoff(INTERVAL, _LONGEST))
    """For writes that failed."""
    retried: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a write that failed is to be tried at once."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there is news that need not take turns."""


class StatusWriter:
    """One entry per existing queue. `drop` forgets it."""

    def __init__(
        self,
        applier: Applier,
        now: Callable[[], str],
        *,
        standalone: bool,
        place: StatusPlace | None = None,
        told: Callable[[QueueReport, ConditionChange], None] = lambda _, __: None,
        unwritten: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`now` returns the time of day, RFC 3339. `place`: where the numbers are published; the
        fields of the status if None. `told` is called when a condition was published that is news,
        where no status can show it; not if that write is not answered. `unwritten` is called with
        the number of queues of which the last write failed, when that changes: what they show is
        old.
        """
        self._told = told
        self._unwritten = unwritten
        self._failing: set[str] = set()
        self._place = place or StatusFields()
        self._applier = applier
        self._now = now
        self._standalone = standalone and self._place.has_state
        self._entries: dict[str, _QueueEntry] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._next_turn = 0.0
        """On the loop's clock."""
        self.writes = 0
        """How many writes were sent."""

    def __len__(self) -> int:
        """Queues that are remembered."""
        return len(self._entries)

    @property
    def writing(self) -> int:
        """Queues that are being written, or wait for their turn."""
        return len(self._tasks)

    @property
    def turns_ahead(self) -> float:
        """Seconds until the last turn that is taken or awaited; 0 if it has passed."""
        return max(0.0, self._next_turn - asyncio.get_running_loop().time())

    def want(self, report: QueueReport) -> None:
        """Take the ledger's numbers of a queue."""
        entry = self._entries.setdefault(report.name, _QueueEntry())
        before, entry.report = entry.report, report
        if before is None or _own_numbers(before) != _own_numbers(report):
            entry.woken.set()
        self._start(report.name, entry)

    def see(
        self,
        name: str,
        queue: Mapping[str, Any],
        uid: str | None = None,
        *,
        version: str = "",
        others_state: bool = False,
    ) -> None:
        """Take the queue that the API server has, in its `version`.

        `others_state`: whether its state is not ours to write.
        """
        entry = self._entries.setdefault(name, _QueueEntry())
        known = entry.seen is not None and entry.uid == uid and not entry.outdated
        if known and _older(version, entry.version):
            return  # than what we wrote ourselves
        seen = self._place.seen(queue, entry.seen if entry.uid == uid else None)
        if entry.seen != seen or entry.uid != uid:
            entry.woken.set()
        if entry.uid != uid:
            entry.conditions = None
        entry.conditions = seen.status.get("conditions") or entry.conditions
        entry.seen, entry.uid = seen, uid
        state = _state(queue)
        if state != entry.state and name in self._failing:
            # What was refused for its state may be taken now.
            entry.backoff.reset()
            entry.next_write = 0.0
            entry.retried.set()
        entry.state = state
        entry.version, entry.others_state, entry.outdated = version, others_state, False
        self._start(name, entry)

    def drop(self, name: str, uid: str | None = None) -> None:
        """The queue with this uid is gone; without a uid, the one that was last reported.

        What is known of another queue of the same name stays.
        """
        entry = self._entries.get(name)
        if entry is None:
            return
        if uid is None:
            if entry.report is None:
                return
            uid = entry.report.uid
        if entry.report is not None and entry.report.uid == uid:
            entry.report = None
        if _same(entry.uid, uid):
            entry.seen = None
        if entry.report is None and entry.seen is None:
            del self._entries[name]
            self._note(name, None, failed=False)

    def close(self) -> None:
        """Write no more, and wait for nothing: the next leader writes what is left."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        self._entries.clear()
        if self._failing:
            self._failing.clear()
            self._unwritten(0)

    def _note(self, name: str, entry: _QueueEntry | None, *, failed: bool) -> None:
        """Whether the last write of a queue failed. Nothing is noted of one that is gone."""
        if self._entries.get(name) is entry and failed is not (name in self._failing):
            (self._failing.add if failed else self._failing.discard)(name)
            self._unwritten(len(self._failing))

    def _start(self, name: str, entry: _QueueEntry) -> None:
        entry.stale = True
        if self._closed or entry.writing or entry.report is None or entry.seen is None:
            return
        entry.writing = True
        task = asyncio.get_running_loop().create_task(self._write(name, entry))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _difference(self, entry: _QueueEntry) -> dict[str, Any] | None:
        """The status to write. None if nothing differs, or nothing was seen yet."""
        if entry.report is None or entry.seen is None or not _same(entry.uid, entry.report.uid):
            return None
        if entry.outdated:
            return None
        before = entry.seen.status
        stored = before if before.get("conditions") else {"conditions": entry.conditions}
        status = queue_status(entry.report, stored, now=self._now(), standalone=self._standalone)
        if entry.others_state:
            status.pop("state", None)
        wanted = self._place.fitted(status, entry.seen)
        if wanted is None:
            if not entry.without_room:
                _LOG.warning(_NO_ROOM, entry.report.name, v.STATUS)
            entry.without_room = True
            return None
        entry.without_room = False
        same = _alike(before, wanted)
        if not self._place.has_state:  # all that stands there is ours
            same = same and before.keys() <= wanted.keys()
        return None if same else wanted

    def _takes_turns(self, entry: _QueueEntry, wanted: dict[str, Any] | None) -> bool:
        """Whether only other queues' quotas caused the difference to be written."""
        if wanted is None or entry.seen is None:
            return False
        return _alike(_of_its_own(entry.seen.status), _of_its_own(wanted))

    async def _turn(self, entry: _QueueEntry) -> None:
        """Wait for a turn, or until there is other news."""
        loop = asyncio.get_running_loop()
        self._next_turn = max(loop.time(), self._next_turn) + TURN
        try:
            async with asyncio.timeout_at(self._next_turn):
                await entry.woken.wait()
        except TimeoutError:
            return
        self._next_turn -= TURN  # it was not taken

    async def _write(self, name: str, entry: _QueueEntry) -> None:
        """Write until nothing has changed since the last look."""
        loop = asyncio.get_running_loop()
        try:
            while entry.stale and self._entries.get(name) is entry:
                entry.retried.clear()
                await asyncio.sleep(0)
                if entry.next_write > loop.time():
                    with suppress(TimeoutError):
                        async with asyncio.timeout_at(entry.next_write):
                            await entry.retried.wait()
                entry.woken.clear()
                if self._takes_turns(entry, self._difference(entry)):
                    await self._turn(entry)
                entry.stale, entry.next_write = False, loop.time() + INTERVAL
                wanted = self._difference(entry)
                if self._entries.get(name) is entry and entry.report and entry.seen:
                    await self._put_right(entry, entry.report, wanted, entry.seen)
        finally:
            entry.writing = False

    async def _put_right(
        self,
        entry: _QueueEntry,
        report: QueueReport,
        wanted: dict[str, Any] | None,
        before: Published,
    ) -> None:
        metadata, seen = {"name": report.name, "uid": report.uid}, ""
        if wanted is None:
            write = None if entry.outdated else self._place.leftover(metadata, before)
        else:
            by_version = "state" in wanted or not self._place.has_state
            seen = entry.version if by_version else ""
            write = self._place.write(
                {**metadata, "resourceVersion": seen} if seen else metadata, wanted, before
            )
        if write is not None and _same(entry.uid, report.uid):
            await self._send(entry, report, write, before, seen)

    async def _send(
        self, entry: _QueueEntry, report: QueueReport, write: Write, before: Published, seen: str
    ) -> None:
        """`seen`: the resourceVersion that the write names, or empty."""
        self.writes += 1
        try:
            version = await self._applier.patch(write.path, write.body, write.content_type)
        except ApiError as error:
            if seen and error.moved:
                entry.outdated = entry.outdated or entry.version == seen
                return
            self._failed(report.name, entry, error.retry_after)
            # What is there is seen before long, or somebody else leads.
            if not error.moved and not (write.tests and error.failed_test):
                _LOG.warning("status of queue %s was refused: %s", report.name, error)
        except OutcomeUnknown as error:
            self._failed(report.name, entry, error.retry_after)
            _LOG.warning("status of queue %s: %s", report.name, error)
        else:
            entry.backoff.reset()
            self._note(report.name, entry, failed=False)
            if not self._place.has_state:
                for change in condition_changes(before.status, write.published.status):
                    self._told(report, change)
            if not _same(entry.uid, report.uid):
                return
            entry.conditions = write.published.status.get("conditions")
            # A status seen meanwhile may be an edit after our write, or of another queue with this
            # name: then it stays.
            no_news = entry.seen is before or _older(entry.version, version)
            if entry.seen is not None and no_news:
                entry.seen, entry.version = write.published, version
                entry.outdated = not version

    def _failed(self, name: str, entry: _QueueEntry, retry_after: float | None) -> None:
        """Retry after ever longer pauses, and not before the API server's Retry-After."""
        entry.stale = True
        self._note(name, entry, failed=True)
        now = asyncio.get_running_loop().time()
        entry.next_write = max(entry.next_write, now + entry.backoff.next(retry_after))


def _state(queue: Mapping[str, Any]) -> str:
    status = queue.get("status")
    return str(status.get("state") or "") if isinstance(status, Mapping) else ""


def _alike(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether all that is wanted is stored. Server-side apply omits an empty list: absent and empty
    are the same. So are absent and nobody: after an upgrade no queue is written for that alone.
    """
    return all((stored.get(key) or _ABSENT.get(key)) == (wanted[key] or None) for key in wanted)


def _older(version: str, other: str) -> bool:
    """Whether a version is known to be older."""
    return bool(version) and wire.revision_of(version) < wire.revision_of(other)


def _same(uid: str | None, other: str | None) -> bool:
    return uid == other or uid is None or other is None


def _own_numbers(report: QueueReport) -> tuple[object, ...]:
    """The parts of a report that do not depend on other queues' quotas."""
    rows = [
        (row.name, row.resource, row.quota, row.allocated, row.inqueue, row.requested, row.elastic)
        for row in report.cards
    ]
    lent = (report.lends, report.borrowed, [row.surge for row in report.cards])
    about = (report.uid, report.generation, report.state, report.state_is_ours)
    wrong = (report.over, report.quota_problem, report.has_quota, report.spec_problem)
    return (*about, *wrong, rows, *lent, report.resources, report.waiting)


def _of_its_own(status: dict[str, Any]) -> dict[str, Any]:
    """A status without the parts that depend on other queues' quotas."""
    rows = [{**row, "deserved": None} for row in _mappings(status.get("cards"))]
    conditions = _mappings(status.get("conditions"))
    own = [condition for condition in conditions if condition.get("type") != v.Condition.OVERSOLD]
    columns = status.get("columns")
    if isinstance(columns, dict):
        # What is its own in the note stands elsewhere, too: in conditions and state.
        columns = {name: text for name, text in columns.items() if name != "note"}
    return {**status, "cards": rows, "conditions": own, "columns": columns}


def _mappings(stored: object) -> list[dict[str, Any]]:
    """The mappings in a list of any origin."""
    return [one for one in stored if isinstance(one, dict)] if isinstance(stored, list) else []
