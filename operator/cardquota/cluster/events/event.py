"""One event on an object, in the form of the API server, and references to such objects."""

import re
import secrets
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

    def body(self, component: str, instance: str) -> dict[str, object]:
        """The object to be created. Take its name from there: it may be new at every call."""
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": self.namespace, "name": self.name},
            "firstTimestamp": self._now,
            "count": 1,
            **self._said(component, instance),
        }

    def renewal(self, component: str, instance: str) -> dict[str, object]:
        """A merge patch of the stored one: all that is said, since whoever stored it may be another
        replica, or somebody who guessed the name.
        """
        return {"count": max(2, self.times), **self._said(component, instance)}

    @property
    def _now(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _said(self, component: str, instance: str) -> dict[str, object]:
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
            "source": {"component": component, "host": instance},
            "reportingComponent": component,
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
