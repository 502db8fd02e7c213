"""One event on an object, references to such objects, and the queue of events to be sent."""

import re
import secrets
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final, NamedTuple

from ...quota import vocabulary as v
from ...quota.accounts.queue_facts import QueueFacts
from ...quota.ledger.groups.group_facts import GroupFacts, NamespaceFacts
from ...quota.nodes.node_facts import NodeFacts
from ...quota.pods.pod_facts import PodFacts

MESSAGE_BYTES: Final = 1024
"""The longest message that the API server accepts."""
_NAME_CHARACTERS: Final = 220
"""Characters of the object's name. With our suffix the event's name stays under 253."""


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object an event is about. `namespace` is empty for cluster-scoped objects."""

    kind: str
    api_version: str
    namespace: str
    name: str
    uid: str
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
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _said(self, instance: str) -> dict[str, object]:
        about = self.about
        involved = {
            "kind": about.kind,
            "apiVersion": about.api_version,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
            "resourceVersion": about.resource_version,
        }
        return {
            "involvedObject": {key: value for key, value in involved.items() if value},
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


def queue_reference(facts: QueueFacts) -> ObjectReference:
    """The queue that an event is about."""
    return ObjectReference("Queue", f"{v.API_GROUP}/{v.VERSION}", "", facts.name, facts.uid)


def namespace_reference(facts: NamespaceFacts) -> ObjectReference:
    """The namespace that an event is about."""
    return ObjectReference("Namespace", "v1", "", facts.name, facts.uid)


def node_reference(facts: NodeFacts) -> ObjectReference:
    """The node that an event is about."""
    return ObjectReference("Node", "v1", "", facts.name, facts.uid)


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
