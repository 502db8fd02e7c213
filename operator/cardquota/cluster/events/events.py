"""Events on objects, for people: one per change of the reason, written in the background.

Who is told again of a reason gets no second event: the stored one is *renewed*, which means patched
(message, count, time of the last). So `kubectl describe` shows one, with the latest words, and not
an old one beside it that says something else; etcd keeps one object for each pod and reason; and
the API server counts its hour from then on.

Why not Kopf's: it writes one for every call, tries each for up to 54 s, and keeps waiting events
without a bound. Here the bound is 10,000, and a namespace that refuses its own holds up no other.
"""

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from ..api.clock import Backoff
from .event import Event, EventQueue, ObjectReference

log = logging.getLogger(__name__)

_TRIES: Final = 5
_WRITERS: Final = 8
"""Events written at the same time, each of another namespace. If as many namespaces have failing
events, all others wait. Few, because when the API server is away for long, each of these loses one
event after the other."""
GIVES_WAY: Final = 2.0
"""Seconds for which an event lets more urgent requests go first."""


class _Recorded(NamedTuple):
    """What is remembered of the last event of an object."""

    reason: str
    topic: str
    at: float
    """Seconds, monotonic."""
    times: int
    """How often it was recorded with this reason, one after the other."""


class EventRecorder:
    """Records events without holding up the caller.

    Guarantees: per object (uid) one event per change of the reason, whatever the message. `record`
    never blocks and never raises. Memory is bounded. The events of a namespace are written in
    order, and up to 7 namespaces with failing events hold up none of the others. After `give_way`
    it writes nothing that was recorded less than 2 seconds ago.
    A renewable event is one object for each reason of an object, whichever replica writes it.
    Not guaranteed: that an event is written (see `dropped`). A full queue drops the oldest of a
    namespace whose events fail, else the oldest; an event that is refused or fails 5 times is lost.
    Nor that a reason is not repeated after a restart, or once `remembered` other objects have had
    events since. Nor the `count` of a renewable event, which begins at 2 again after a restart or
    another reason.
    """

    def __init__(
        self,
        client: Client,
        *,
        instance: str,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        queue_size: int = 10_000,
        remembered: int = 20_000,
        renew_after: float = math.inf,
        backoff: Callable[[], Backoff] = Backoff,
    ) -> None:
        """`instance`: the replica. `clock`: the time of day, seconds since 1970. `monotonic`:
        seconds, at the same pace as the event loop's clock. `renew_after`: seconds after which a
        renewable event is old: it is written again if it is recorded again.
        """
        if queue_size < 1 or remembered < 1:
            raise ValueError("queue_size and remembered must be at least 1")
        self._client = client
        self._instance = instance
        self._clock = clock
        self._monotonic = monotonic
        self._queue = EventQueue(queue_size)
        self._size = queue_size
        self._reasons: OrderedDict[str, _Recorded] = OrderedDict()
        self._renew_after = renew_after
        self._remembered = remembered
        self._backoff = backoff
        self._wake = asyncio.Event()
        self._goes = asyncio.Event()
        self._goes.set()
        self.written = 0
        """Events that the API server accepted."""
        self.dropped = 0
        """Events that were lost."""

    def record(
        self,
        ref: ObjectReference,
        *,
        type: Literal["Normal", "Warning"],  # noqa: A002 - Kubernetes' own word
        reason: str,
        message: str,
        topic: str = "",
        renewable: bool = False,
        again: bool = False,
    ) -> None:
        """Queue an event, unless the last one of this object had the same reason and topic.

        `topic`: what it is about, if that may change under the same reason. `renewable`: if there
        is one for this reason it is renewed, also if that has been deleted, or its hour is over.
        With one request, if it is remembered that it was told.
        `again`: write it in any case.
        """
        last, now = self._reasons.get(ref.uid), self._monotonic()
        if last is not None and (last.reason, last.topic) == (reason, topic):
            old = renewable and self.is_due(ref.uid)
            if not again and not old:
                self._reasons.move_to_end(ref.uid)
                return
        times = 1 + (last.times if renewable and last and last.reason == reason else 0)
        self._reasons[ref.uid] = _Recorded(reason, topic, now, times)
        self._reasons.move_to_end(ref.uid)
        if len(self._reasons) > self._remembered:
            self._reasons.popitem(last=False)
        event = Event(ref, type, reason, message, self._clock(), now, renewable, times)
        self.dropped += self._queue.put(event)
        self._wake.set()

    @property
    def waiting(self) -> int:
        """How many wait to be written."""
        return len(self._queue)

    @property
    def has_room(self) -> bool:
        """Whether an event of the most frequent kind should be recorded now. False while half the
        queue is taken, which leaves room for other events. Events of namespaces where they fail do
        not count: they are dropped first.
        """
        return self._queue.sound < max(1, self._size // 2)

    def last_reason(self, uid: str) -> str | None:
        """The reason of the object's last event, as far as it is remembered."""
        found = self._reasons.get(uid)
        return found.reason if found else None

    def is_due(self, uid: str) -> bool:
        """Whether the object's last event is so old that it is to be renewed, or not remembered."""
        found = self._reasons.get(uid)
        return found is None or self._monotonic() - found.at >= self._renew_after

    def forget(self, uid: str) -> None:
        """Write the object's next event in any case. Also call this when the object is gone."""
        self._reasons.pop(uid, None)

    def give_way(self) -> None:
        """Wait: more urgent requests are under way, and each event is a request as well."""
        self._goes.clear()

    def go_on(self) -> None:
        """The inverse of `give_way`."""
        self._goes.set()

    async def run(self) -> None:
        """Write what is queued until cancelled."""
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write_all())

    async def _write_all(self) -> None:
        while True:
            # While one writer waits, others take events, so another event may be next.
            while (first := self._queue.first()) is not None and self._is_early(first.since):
                await self._turn(first.since)
            event = self._queue.take()
            if event is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            try:
                await self._write(event)
            finally:
                self._queue.done(event.namespace)
            # If no write had to wait, thousands would be written without a pause.
            await asyncio.sleep(0)

    def _is_early(self, since: float) -> bool:
        """Whether an event recorded at that time gives way now."""
        return not self._goes.is_set() and since + GIVES_WAY > self._monotonic()

    async def _turn(self, since: float) -> None:
        """Return once an event recorded at that time may be written."""
        left = since + GIVES_WAY - self._monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, left)):
                await self._goes.wait()

    async def _write(self, event: Event) -> None:
        namespace, body = event.namespace, event.body(self._instance)
        backoff = self._backoff()
        for attempt in range(1, _TRIES + 1):
            try:
                await self._send(event, body)
            except ApiError as error:
                if error.status != 429:
                    log.info("the event %s was refused: %s", event.reason, error)
                    self.dropped += 1
                    return
                retry_after = error.retry_after
            except OutcomeUnknown as error:
                log.debug("writing an event: %s", error)
                retry_after = error.retry_after
            else:
                break
            self._queue.tried(namespace, taken=False)
            if attempt == _TRIES:
                log.warning("an event was not written in %d tries", _TRIES)
                self.dropped += 1
                return
            await asyncio.sleep(backoff.next(retry_after))
        self._queue.tried(namespace, taken=True)
        self.written += 1

    async def _send(self, event: Event, body: dict[str, object]) -> None:
        """Create it, or renew the one that is there."""
        if event.times > 1 and await self._renew(event):
            return
        try:
            await self._client.post(event.path, body)
        except ApiError as error:
            if error.status != 409 or error.reason != "AlreadyExists":
                raise
            # One with a new name was created by an earlier try. Any other may be an older one.
            if event.renewable:
                await self._renew(event)

    async def _renew(self, event: Event) -> bool:
        """Returns whether there is one that could be renewed."""
        change = event.renewal(self._instance)
        try:
            await self._client.patch(f"{event.path}/{event.name}", change)
        except ApiError as error:
            if error.status != 404:
                raise
            return False
        return True
