"""Objects of the API server as plain JSON, and what is often asked of them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

Json = dict[str, Any]

SCHEDULING: Final = "scheduling.volcano.sh/v1beta1"
BATCH: Final = "batch.volcano.sh/v1alpha1"
BUS: Final = "bus.volcano.sh/v1alpha1"

PODS: Final = "/api/v1/pods"
NODES: Final = "/api/v1/nodes"
QUEUES: Final = f"/apis/{SCHEDULING}/queues"
GROUPS: Final = f"/apis/{SCHEDULING}/podgroups"
JOBS: Final = f"/apis/{BATCH}/jobs"
COMMANDS: Final = f"/apis/{BUS}/commands"

GROUP_NAME: Final = "scheduling.k8s.io/group-name"
"""The annotation that says which group a pod belongs to."""
TASK_SPEC: Final = "volcano.sh/task-spec"
"""The annotation that says which task of a job a pod is of: its role."""

FINISHED: Final = ("Succeeded", "Failed")
"""Phases of pods that hold nothing any more."""


def name(thing: Json) -> str:
    """The object's name."""
    return str(thing["metadata"]["name"])


def namespace(thing: Json) -> str:
    """The object's namespace. Empty if it has none."""
    return str(thing["metadata"].get("namespace") or "")


def uid(thing: Json) -> str:
    """The object's uid."""
    return str(thing["metadata"]["uid"])


def key(thing: Json) -> str:
    """`namespace/name`, or the name alone."""
    where = namespace(thing)
    return f"{where}/{name(thing)}" if where else name(thing)


def annotations(thing: Json) -> dict[str, str]:
    """The object's annotations; those of an object without any are empty."""
    return thing["metadata"].get("annotations") or {}


def status(thing: Json) -> Json:
    """The object's status, or an empty one."""
    return thing.get("status") or {}


def phase(thing: Json) -> str:
    """The phase in its status. Empty if it has none yet."""
    return str(status(thing).get("phase") or "")


def is_deleted(thing: Json) -> bool:
    """Whether it is being deleted."""
    return bool(thing["metadata"].get("deletionTimestamp"))


def controller_of(thing: Json) -> Json | None:
    """The owner reference of its controller."""
    for one in thing["metadata"].get("ownerReferences") or ():
        if one.get("controller"):
            return dict(one)
    return None


def path(collection: str, thing: Json) -> str:
    """The path of one object of a collection that spans all namespaces."""
    return f"{within(collection, namespace(thing))}/{name(thing)}"


def within(collection: str, where: str) -> str:
    """The path of a collection in one namespace. The same if that is empty."""
    if not where:
        return collection
    head, _, plural = collection.rpartition("/")
    return f"{head}/namespaces/{where}/{plural}"


def created(thing: Json) -> str:
    """When it was created, to the second. Empty if that is not known."""
    return str(thing["metadata"].get("creationTimestamp") or "")


def oldest_first(things: Iterable[Json]) -> list[Json]:
    """In the order of creation; of one second, in the order of names."""
    return sorted(things, key=lambda one: (created(one), key(one)))


def now() -> str:
    """The time as the API server writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
