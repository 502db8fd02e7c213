"""Events on objects, for people: one per change of the reason, written in the background."""

import asyncio
import logging
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from .api_error import ApiError, OutcomeUnknown
from .backoff import Backoff
from .client import Client

log = logging.getLogger(__name__)

MESSAGE_BYTES: Final = 1024
"""What the API server takes of a message."""
_TRIES: Final = 5
_WRITERS: Final = 8
"""Events written at the same time, each of another namespace: so many namespaces less one may have
events that fail and are tried again, before those of all others wait. Few, because when the API
server is away for long, each of these loses one event after the other."""
_GIVES_WAY: Final = 2.0
"""Seconds for which an event lets more urgent requests go first."""
_NAME_CHARACTERS: Final = 220
"""Of the object's name; with our suffix the event's name stays under the limit of 253."""


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object an event is about. `namespace` is empty for cluster-scoped objects."""

    kind: str
    api_version: str
    namespace: str
    name: str
    uid: str
    resource_version: str = ""


class EventRecorder:
    """Records events without holding anybody up.

    Guarantees: per object (uid) one event per change of the reason, whatever the message;
    `record` never blocks and never raises; memory is bounded; the events of a namespace are written
    in order, and those of up to 7 namespaces that fail hold up none of the others. While told to
    `give_way` it writes nothing that was recorded less than 2 seconds ago.
    Not guaranteed: that an event is written (a full queue drops the oldest of a namespace whose
    events fail, or else the oldest; and one that is refused, or not taken in 5 tries, is lost), nor
    that a reason is not repeated after a restart or once `remembered` other objects had events
    since. See `dropped`.
    """

    def __init__(
        self,
        client: Client,
        *,
        component: str = "cardquota",
        instance: str,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        queue_size: int = 1000,
        remembered: int = 20_000,
        backoff: Callable[[], Backoff] = Backoff,
    ) -> None:
        """`instance`: which replica; `clock`: the time of day, seconds since 1970; `monotonic`:
        seconds, of the same pace as the event loop's.
        """
        if queue_size < 1 or remembered < 1:
            raise ValueError("queue_size and remembered must be at least 1")
        self._client = client
        self._component = component
        self._instance = instance
        self._clock = clock
        self._monotonic = monotonic
        self._queue: deque[_Queued] = deque()
        self._queue_size = queue_size
        self._reasons: OrderedDict[str, str] = OrderedDict()
        self._remembered = remembered
        self._backoff = backoff
        self._wake = asyncio.Event()
        self._goes = asyncio.Event()
        self._goes.set()
        self._busy: set[str] = set()
        """Paths of which an event is being written."""
        self._failing: set[str] = set()
        """Paths whose last event was not taken at its last try; only of what is queued or busy."""
        self.written = 0
        """Events the API server has taken."""
        self.dropped = 0
        """Events that were lost."""

    def record(
        self,
        ref: ObjectReference,
        *,
        type: Literal["Normal", "Warning"],  # noqa: A002 - Kubernetes' own word
        reason: str,
        message: str,
    ) -> None:
        """Queue an event, unless the last one of this object had the same reason."""
        repeated = self._reasons.get(ref.uid) == reason
        self._reasons[ref.uid] = reason
        self._reasons.move_to_end(ref.uid)
        if len(self._reasons) > self._remembered:
            self._reasons.popitem(last=False)
        if repeated:
            return
        if len(self._queue) >= self._queue_size:
            self._drop_one()
        self._queue.append(self._event(ref, type, reason, message))
        self._wake.set()

    def last_reason(self, uid: str) -> str | None:
        """The reason of the object's last event, as far as it is remembered."""
        return self._reasons.get(uid)

    def forget(self, uid: str) -> None:
        """The object's next event is written in any case; also to be called when it is gone."""
        self._reasons.pop(uid, None)

    def give_way(self) -> None:
        """Something more urgent is on its way: each event is a request like that one."""
        self._goes.clear()

    def go_on(self) -> None:
        """The inverse of `give_way`."""
        self._goes.set()

    async def run(self) -> None:
        """Write what is queued until cancelled."""
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write_all())

    def _drop_one(self) -> None:
        failing = (n for n, queued in enumerate(self._queue) if queued.path in self._failing)
        # Looked for only where there is something to find: this is every event of a burst.
        del self._queue[next(failing, 0) if self._failing else 0]
        self.dropped += 1

    async def _write_all(self) -> None:
        while True:
            if self._queue:
                await self._turn(self._queue[0].since)
            taken = self._take()
            if taken is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            path, body, _ = taken
            self._busy.add(path)
            try:
                await self._write(path, body)
            finally:
                self._busy.discard(path)
            if path in self._failing and not any(path == queued.path for queued in self._queue):
                self._failing.discard(path)

    async def _turn(self, since: float) -> None:
        """Return once an event recorded then is to be written."""
        left = since + _GIVES_WAY - self._monotonic()
        if left > 0 and not self._goes.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._goes.wait(), left)

    def _take(self) -> "_Queued | None":
        """The oldest event of which no other of its namespace is being written."""
        for number, event in enumerate(self._queue):
            if event.path not in self._busy:
                del self._queue[number]
                return event
        return None

    async def _write(self, path: str, body: dict[str, object]) -> None:
        backoff = self._backoff()
        for attempt in range(1, _TRIES + 1):
            try:
                await self._client.post(path, body)
            except ApiError as error:
                # Its name is its own: if it exists, an earlier try did it.
                if error.status == 409 and error.reason == "AlreadyExists":
                    break
                if error.status != 429:
                    log.info("an event was refused: %s", error)
                    self.dropped += 1
                    return
                retry_after = error.retry_after
            except OutcomeUnknown as error:
                log.debug("writing an event: %s", error)
                retry_after = error.retry_after
            else:
                break
            self._failing.add(path)
            if attempt == _TRIES:
                log.warning("an event was not written in %d tries", _TRIES)
                self.dropped += 1
                return
            await asyncio.sleep(backoff.next(retry_after))
        self._failing.discard(path)
        self.written += 1

    def _event(self, ref: ObjectReference, kind: str, reason: str, message: str) -> "_Queued":
        # The API server wants events of cluster-scoped objects in this namespace.
        namespace = ref.namespace or "default"
        now = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        involved = {
            "kind": ref.kind,
            "apiVersion": ref.api_version,
            "namespace": ref.namespace,
            "name": ref.name,
            "uid": ref.uid,
            "resourceVersion": ref.resource_version,
        }
        body: dict[str, object] = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": namespace, "name": _event_name(ref.name)},
            "involvedObject": {key: value for key, value in involved.items() if value},
            "type": kind,
            "reason": reason,
            "message": cut(message),
            "source": {"component": self._component, "host": self._instance},
            "reportingComponent": self._component,
            "reportingInstance": self._instance,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        path = f"/api/v1/namespaces/{namespace}/events"
        return _Queued(path, body, self._monotonic())


class _Queued(NamedTuple):
    path: str
    body: dict[str, object]
    since: float
    """When it was recorded, seconds, monotonic."""


def cut(message: str, limit: int = MESSAGE_BYTES) -> str:
    """The message in at most `limit` bytes of UTF-8, whole characters, `...` where it was cut."""
    encoded = message.encode()
    if len(encoded) <= limit:
        return message
    return encoded[: limit - 3].decode(errors="ignore") + "..."


def _event_name(name: str) -> str:
    stem = re.sub(r"[^a-z0-9.-]", "-", name.lower())[:_NAME_CHARACTERS].strip(".-") or "object"
    return f"{stem}.{secrets.token_hex(8)}"
