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
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Final, Literal, NamedTuple

import msgspec

from ..loop.timing import Backoff
from ..quota import vocabulary as v
from ..quota.ledger.groups.group_facts import GroupFacts
from ..quota.pods.pod_facts import PodFacts
from ..quota.words import time_text
from .api.api_error import ApiError, OutcomeUnknown
from .api.client import Client

log = logging.getLogger(__name__)

MESSAGE_BYTES: Final = 1024
"""The longest message that the API server accepts."""
_NAME_CHARACTERS: Final = 220
"""Characters of the object's name. With our suffix the event's name stays under 253."""
_TRIES: Final = 5
_WRITERS: Final = 8
"""Events written at the same time, each of another namespace. If as many namespaces have failing
events, all others wait. Few, because when the API server is away for long, each of these loses one
event after the other."""
GIVES_WAY: Final = 2.0
"""Seconds for which an event lets more urgent requests go first."""


class ObjectReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The object an event is about. `namespace` is empty for cluster-scoped objects."""

    kind: str
    api_version: str
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class Event(NamedTuple):
    """What is kept of an event until it is written. It is small, as thousands may wait."""

    about: ObjectReference
    type: str
    reason: str
    message: str
    at: float
    """Time of day, seconds since 1970."""
    since: float
    """When it was recorded; seconds, monotonic."""
    renewable: bool = False
    """Whether its name follows from its object and reason, so that it can be written again."""
    times: int = 1
    """How often it was recorded, as far as that is known; above 1: a renewable one is stored."""

    @property
    def namespace(self) -> str:
        """Where it is written. For cluster-scoped objects the API server requires `default`."""
        return self.about.namespace or "default"

    @property
    def path(self) -> str:
        """The path of the collection that it is posted to."""
        return f"/api/v1/namespaces/{self.namespace}/events"

    @property
    def name(self) -> str:
        """The name of the object: one that follows from what it is about, or a new one."""
        suffix = secrets.token_hex(8)
        if self.renewable:
            text = f"{self.about.uid} {self.reason}"
            suffix = blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
        return f"{_stem(self.about.name)}.{suffix}"

    def body(self, instance: str) -> dict[str, object]:
        """The object to be created. Take its name from there: it may be new at every call."""
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": self.namespace, "name": self.name},
            "firstTimestamp": self._now,
            "count": 1,
            **self._said(instance),
        }

    def renewal(self, instance: str) -> dict[str, object]:
        """A merge patch of the stored one: all that is said, since whoever stored it may be another
        replica, or somebody who guessed the name.
        """
        return {"count": max(2, self.times), **self._said(instance)}

    @property
    def _now(self) -> str:
        return time_text(int(self.at))

    def _said(self, instance: str) -> dict[str, object]:
        return {
            "involvedObject": msgspec.to_builtins(self.about),
            "type": self.type,
            "reason": self.reason,
            "message": cut(self.message),
            "source": {"component": v.FIELD_MANAGER, "host": instance},
            "reportingComponent": v.FIELD_MANAGER,
            "reportingInstance": instance,
            "lastTimestamp": self._now,
        }


def cut(message: str, limit: int = MESSAGE_BYTES) -> str:
    """The message in at most `limit` bytes of UTF-8, whole characters, with `...` where it was cut.

    Sentences say what to do last, after a semicolon: so what stands before that is cut. Of the last
    parts as many are kept as take half of the limit.
    """
    encoded = message.encode(errors="replace")
    if len(encoded) <= limit:
        return encoded.decode()
    kept = len(encoded)
    while (at := encoded.rfind(b"; ", 0, kept)) >= len(encoded) - limit // 2:
        kept = at
    end = encoded[kept:]
    return encoded[: limit - 3 - len(end)].decode(errors="ignore") + "..." + end.decode()


def _stem(name: str) -> str:
    return re.sub(r"[^a-z0-9.-]", "-", name.lower())[:_NAME_CHARACTERS].strip(".-") or "object"


def pod_reference(facts: PodFacts) -> ObjectReference:
    """The pod that an event is about."""
    return ObjectReference("Pod", "v1", facts.namespace, facts.name, facts.uid, str(facts.revision))


def group_reference(facts: GroupFacts) -> ObjectReference:
    """The pod group that an event is about."""
    return ObjectReference(
        "PodGroup", f"{v.API_GROUP}/{v.VERSION}", facts.namespace, facts.name, facts.uid
    )


class EventQueue:
    """At most `size` events. Those of a namespace leave in order, one at a time; namespaces take
    turns.

    Putting, taking and finishing cost the same however many wait. Putting one into a full queue
    drops another one, and costs a step for each namespace.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: dict[str, deque[Event]] = {}
        """By namespace, in the order of arrival; none is empty."""
        self._ready: OrderedDict[str, None] = OrderedDict()
        """Namespaces with waiting events, none of them being written."""
        self._busy: set[str] = set()
        """Namespaces with an event that is being written."""
        self._failing: set[str] = set()
        """Namespaces known here whose last event failed at its last try."""
        self._count = 0

    def __len__(self) -> int:
        """How many events wait."""
        return self._count

    @property
    def namespaces(self) -> int:
        """How many are remembered: those with events that wait, are written, or fail."""
        return len(self._waiting.keys() | self._busy | self._failing)

    @property
    def sound(self) -> int:
        """How many events wait in namespaces whose events do not fail."""
        return self._count - sum(len(self._waiting.get(name, ())) for name in self._failing)

    def put(self, event: Event) -> bool:
        """Have an event wait. Returns whether another one was dropped for it."""
        full = self._count >= self._size
        if full:
            self._drop_one()
        namespace = event.namespace
        if namespace not in self._waiting:
            self._waiting[namespace] = deque()
            if namespace not in self._busy:
                self._ready[namespace] = None
        self._waiting[namespace].append(event)
        self._count += 1
        return full

    def first(self) -> Event | None:
        """The event that `take` would return."""
        return self._waiting[next(iter(self._ready))][0] if self._ready else None

    def take(self) -> Event | None:
        """The next event of the namespace whose turn it is. Call `done` after it."""
        if not self._ready:
            return None
        namespace, _ = self._ready.popitem(last=False)
        self._busy.add(namespace)
        return self._pop(namespace)

    def tried(self, namespace: str, *, taken: bool) -> None:
        """Note the result of the last try to write an event of a namespace."""
        if taken:
            self._failing.discard(namespace)
        else:
            self._failing.add(namespace)

    def done(self, namespace: str) -> None:
        """The event that was taken from this namespace is written, or lost."""
        self._busy.discard(namespace)
        if namespace in self._waiting:
            self._ready[namespace] = None
        else:
            self._failing.discard(namespace)

    def _pop(self, namespace: str) -> Event:
        found = self._waiting[namespace]
        event = found.popleft()
        self._count -= 1
        if not found:
            del self._waiting[namespace]
        return event

    def _drop_one(self) -> None:
        """Drop the oldest event of the namespace with the most: of one whose events fail, if there
        is any.
        """
        failing = [name for name in self._failing if name in self._waiting]
        namespace = max(failing or self._waiting, key=lambda name: len(self._waiting[name]))
        self._pop(namespace)
        if namespace not in self._waiting and namespace not in self._busy:
            del self._ready[namespace]
            self._failing.discard(namespace)


class _Recorded(NamedTuple):
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
            while (first := self._queue.first()) is not None and await self._gave_way(first.since):
                pass
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

    async def _gave_way(self, since: float) -> bool:
        """Whether an event recorded at that time had to wait; it has, if so, and another may be
        next.
        """
        left = since + GIVES_WAY - self._monotonic()
        if self._goes.is_set() or left <= 0:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._goes.wait()
        return True

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
