"""What is published of a queue becomes what the ledger says: view, difference, one patch.

Each queue has one slot: the latest view, from the ledger's loop, and what is published, as Kopf's
watch showed it or our last write left it. If either changes, the queue is reconciled: at most once
a second, some queues at a time. The difference is computed when a write is due, so the work for a
queue does not depend on how often its numbers change. An edit by hand does not last.

The state may be somebody else's (Q6), and so may a first annotation. So they are written only on
the queue as it was seen: if Volcano's tools close a queue while a write is on its way, the API
server refuses the write, and the next one waits until the queue is seen again.

Lives in the loop of the Kopf thread.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from ...api.queue import (
    CardStatus,
    QueueCondition,
    QueueStatusSchema,
    ResourceStatus,
    StatusColumns,
    WaitingStatus,
)
from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import APPLY_PATCH, Client
from ...cluster.watch.delivery import decode_identity, revision_of
from ...loop.timing import Backoff
from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import state_is_ours
from ...quota.amounts import LARGEST
from ...quota.objects.queue import Queue
from ...quota.reports.queue_report import QueueReport, columns
from ...quota.words import read_moment
from .published_status import Published, StatusFields, StatusPlace, Write

_LOG = logging.getLogger(__name__)
INTERVAL: Final = 1.0
"""Seconds between two views of one queue, and between two writes of it."""
AT_A_TIME: Final = 8
"""Queues that are written at once: a new quota may change what a thousand queues deserve."""
_LONGEST: Final = 60.0
"""Seconds between two tries of a write that keeps failing."""
_NO_ROOM: Final = "queue %s: its other annotations leave no room for %s: remove some"
_ABSENT: Final = {"waiting": {"pods": 0}}
"""What an absent field of the status says."""


@dataclass(slots=True)
class _Slot:
    """What is known of one queue."""

    view: QueueReport | None = None
    """None: the ledger does not know it, or no more."""
    published: Published | None = None
    """None: not seen yet, or gone."""
    conditions: object = None
    """The last conditions that were published. Volcano takes them away with all else that is ours,
    and they hold since when they held."""
    state: str | None = None
    """As it was seen. While that is Closing, Volcano's webhook refuses every update."""
    version: str = ""
    """The resourceVersion with which the queue was seen, or written; empty if not known."""
    others_state: bool = False
    """Whether somebody else wrote its state."""
    outdated: bool = False
    """Whether the queue has changed since it was seen: so nothing is written before it is seen
    again."""
    stale: bool = False
    """Whether something has changed since the last look."""
    next_look: float = 0.0
    """On the loop's clock."""
    without_room: bool = False
    """Whether nothing has room for what is to be published, which is logged once."""
    failed: bool = False
    """Whether the last write failed: what the queue shows is old."""
    task: asyncio.Task[None] | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(INTERVAL, _LONGEST))
    retried: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a write that failed is to be tried at once."""


class QueueReconciler:
    """One slot for each queue, by its uid, until neither the ledger nor Kopf knows it."""

    def __init__(
        self,
        client: Client,
        now: Callable[[], str],
        *,
        standalone: bool,
        place: StatusPlace | None = None,
        unwritten: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`now` returns the time of day, RFC 3339. `place`: where the numbers are published; the
        fields of the status if None. `unwritten` is called with the number of queues of which the
        last write failed, when that changes.
        """
        self._unwritten = unwritten
        self._place = place or StatusFields()
        self._client = client
        self._now = now
        self._standalone = standalone and self._place.has_state
        self._slots: dict[str, _Slot] = {}
        self._at_a_time = asyncio.Semaphore(AT_A_TIME)
        self._closed = False
        self._failed_slots = 0
        self.writes = 0
        """How many writes were sent."""

    def __len__(self) -> int:
        """Queues that are remembered."""
        return len(self._slots)

    @property
    def working(self) -> int:
        """Queues that are being reconciled."""
        return sum(slot.task is not None for slot in self._slots.values())

    def want(self, uid: str, view: QueueReport | None) -> None:
        """Take the ledger's latest view of a queue; None: it is gone."""
        slot = self._slots.setdefault(uid, _Slot())
        slot.view = view
        self._changed(uid, slot)

    def seen(self, queue: Mapping[str, Any]) -> None:
        """Take the queue that the API server has. One that cannot be read is left alone: the ledger
        has no numbers of it.
        """
        try:
            read = msgspec.convert(queue, Queue)
        except msgspec.ValidationError:
            return
        meta, state = read.metadata, read.status.state
        slot = self._slots.setdefault(meta.uid, _Slot())
        known = slot.published is not None and not slot.outdated
        if known and _older(meta.resource_version, slot.version):
            return  # than what we wrote ourselves
        slot.published = self._place.seen(queue, slot.published)
        slot.conditions = slot.published.status.get("conditions") or slot.conditions
        if slot.failed and state != slot.state:
            # What was refused for its state may be taken now.
            slot.backoff.reset()
            slot.next_look = 0.0
            slot.retried.set()
        slot.version, slot.state = meta.resource_version, state
        slot.others_state, slot.outdated = not state_is_ours(read), False
        self._changed(meta.uid, slot)

    def gone(self, uid: str) -> None:
        """The queue was deleted."""
        slot = self._slots.get(uid)
        if slot is not None:
            slot.published = None
            self._changed(uid, slot)

    def close(self) -> None:
        """Write no more, and wait for nothing: the next leader writes what is left."""
        self._closed = True
        for slot in self._slots.values():
            if slot.task is not None:
                slot.task.cancel()
        self._slots.clear()
        if self._failed_slots:
            self._count_failed(-self._failed_slots)

    def _changed(self, uid: str, slot: _Slot) -> None:
        slot.stale = True
        if slot.view is None and slot.published is None:
            del self._slots[uid]
            if slot.failed:
                self._count_failed(-1)
        elif not (slot.view is None or slot.published is None or slot.task or self._closed):
            slot.task = asyncio.get_running_loop().create_task(self._reconcile(slot))

    async def _reconcile(self, slot: _Slot) -> None:
        """Until nothing has changed since the last look."""
        loop = asyncio.get_running_loop()
        try:
            while slot.stale and slot.view is not None and slot.published is not None:
                slot.retried.clear()
                await asyncio.sleep(0)
                # 1 once a second, later after a failure
                if slot.next_look > loop.time():
                    with suppress(TimeoutError):
                        async with asyncio.timeout_at(slot.next_look):
                            await slot.retried.wait()
                async with self._at_a_time:
                    slot.stale, slot.next_look = False, loop.time() + INTERVAL
                    # 2 what differs  3 one patch
                    write = self._difference(slot)
                    if write is not None:
                        await self._send(slot, write)
        finally:
            slot.task = None

    def _difference(self, slot: _Slot) -> Write | None:
        """What is to be written. None: nothing differs, or it is not known yet."""
        view, published = slot.view, slot.published
        if view is None or published is None or slot.outdated:
            return None
        before = published.status
        stored = before if before.get("conditions") else {"conditions": slot.conditions}
        status = queue_status(view, stored, now=self._now(), standalone=self._standalone)
        if slot.others_state:
            status.pop("state", None)
        wanted = self._place.fitted(status, published)
        if wanted is None:
            if not slot.without_room:
                _LOG.warning(_NO_ROOM, view.name, v.STATUS)
            slot.without_room = True
            return None
        slot.without_room = False
        metadata = {"name": view.name, "uid": view.uid}
        same = _alike(before, wanted)
        if not self._place.has_state:  # all that stands there is ours
            same = same and before.keys() <= wanted.keys()
        if same:
            return self._place.leftover(metadata, published)
        by_version = slot.version and ("state" in wanted or not self._place.has_state)
        if by_version:
            metadata["resourceVersion"] = slot.version
        write = self._place.write(metadata, wanted, published)
        return write._replace(version=slot.version) if by_version else write

    async def _send(self, slot: _Slot, write: Write) -> None:
        self.writes += 1
        name, before = write.queue, slot.published
        try:
            made = await self._patch(write)
        except ApiError as error:
            if write.version and error.moved:
                slot.outdated = slot.outdated or slot.version == write.version
                return
            self._failed(slot, error.retry_after)
            # What is there is seen before long, or somebody else leads.
            if not error.moved and not (write.tests and error.failed_test):
                _LOG.warning("status of queue %s was refused: %s", name, error)
        except OutcomeUnknown as error:
            self._failed(slot, error.retry_after)
            _LOG.warning("status of queue %s: %s", name, error)
        else:
            slot.backoff.reset()
            self._note(slot, failed=False)
            slot.conditions = write.published.status.get("conditions")
            # A status seen meanwhile may be an edit after our write: then it stays.
            if slot.published is before or _older(slot.version, made):
                slot.published, slot.version = write.published, made
                slot.outdated = not made

    async def _patch(self, write: Write) -> str:
        """As our field manager. Returns the resourceVersion that this made; empty if the answer
        does not tell it.
        """
        params = {"fieldManager": v.FIELD_MANAGER}
        if write.content_type == APPLY_PATCH:
            params["force"] = "true"
        answer = await self._client.patch(
            write.path,
            write.body,
            content_type=write.content_type,
            params=params,
            metadata_only=True,
        )
        try:
            return decode_identity(answer).metadata.resource_version
        except msgspec.MsgspecError:
            return ""  # it was stored; the watch tells its version

    def _failed(self, slot: _Slot, retry_after: float | None) -> None:
        """Retry after ever longer pauses, and not before the API server's Retry-After."""
        slot.stale = True
        self._note(slot, failed=True)
        now = asyncio.get_running_loop().time()
        slot.next_look = max(slot.next_look, now + slot.backoff.next(retry_after))

    def _note(self, slot: _Slot, *, failed: bool) -> None:
        """Nothing is counted of a queue that is gone, nor after the end."""
        there = slot.view is not None or slot.published is not None
        if there and not self._closed and slot.failed is not failed:
            slot.failed = failed
            self._count_failed(1 if failed else -1)

    def _count_failed(self, more: int) -> None:
        self._failed_slots += more
        self._unwritten(self._failed_slots)


def _alike(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether all that is wanted is stored. Server-side apply omits an empty list: absent and empty
    are the same. So are absent and nobody: after an upgrade no queue is written for that alone.
    """
    return all((stored.get(key) or _ABSENT.get(key)) == (wanted[key] or None) for key in wanted)


def _older(version: str, other: str) -> bool:
    """Whether a version is known to be older."""
    return bool(version) and revision_of(version) < revision_of(other)


def queue_status(
    report: QueueReport, stored: Mapping[str, Any], *, now: str, standalone: bool
) -> dict[str, Any]:
    """The status to apply, in wire form.

    `stored`: the present status, for the times of unchanged conditions. `now`: RFC 3339.
    `standalone`: whether we write state and `allocated`; a Closed that others wrote is left alone
    (Q6).
    """
    shown: dict[str, str] = _fields(columns(report))
    status = QueueStatusSchema(
        state=report.state if standalone and report.state_is_ours else None,
        allocated=_allocated(report) if standalone else None,
        observed_generation=report.generation,
        cards=[CardStatus(**_bounded(_fields(row))) for row in report.cards],
        resources=[ResourceStatus(**row.texts()) for row in report.resources],
        waiting=_waiting(report),
        conditions=_conditions(report, stored.get("conditions"), now),
        columns=StatusColumns(**{name: text or None for name, text in shown.items()}),
    )
    return status.model_dump(by_alias=True, exclude_none=True)


def _allocated(report: QueueReport) -> dict[str, int | str]:
    """Volcano's field: what is allocated, by resource name."""
    by_resource: dict[str, int] = {}
    for row in report.cards:
        if row.resource:
            by_resource[row.resource] = by_resource.get(row.resource, 0) + row.allocated
    return {
        **{row.name: row.text(row.allocated) or "0" for row in report.resources},
        **{name: str(amount) for name, amount in sorted(by_resource.items())},
    }


def _waiting(report: QueueReport) -> WaitingStatus:
    pods, oldest = report.waiting
    return WaitingStatus(pods=pods, oldest=oldest or None)


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def _bounded(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers capped at what the API server accepts: for one above, it would refuse the whole
    status. No quota is above the cap, so an amount over its quota still shows as such.
    """
    return {key: min(n, LARGEST) if isinstance(n, int) else n for key, n in row.items()}


def _mappings(stored: object) -> list[Mapping[str, Any]]:
    """Those with a type in a list of any origin."""
    if not isinstance(stored, list):
        return []
    return [one for one in stored if isinstance(one, dict) and isinstance(one.get("type"), str)]


def _conditions(report: QueueReport, stored: object, now: str) -> list[QueueCondition]:
    before = {one.get("type"): one for one in _mappings(stored)}
    found = []
    for one in report.conditions:
        status, old = str(one.holds), before.get(one.type, {})
        since = str(old.get("lastTransitionTime"))
        same = old.get("status") == status and read_moment(since) is not None
        found.append(
            QueueCondition(
                type=one.type,
                status=status,
                observed_generation=report.generation,
                last_transition_time=since if same else now,
                reason=one.reason,
                message=one.message,
            )
        )
    return found
