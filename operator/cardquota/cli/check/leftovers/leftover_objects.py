"""Reads what `check` looks for leftovers in: annotations, the specification of queues, what the old
plugin says in events, and the configuration of Volcano's scheduler.
"""

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from ....cluster.api.api_error import ApiError, OutcomeUnknown
from ....cluster.api.client import Client
from ....cluster.watch.listing import Unreadable, list_objects
from ....quota import vocabulary as v
from ....quota.ledger.groups.group_request import group_request
from ....quota.moments import seconds_of
from ....quota.names.meaningless_keys import KEYS_OF_QUEUES
from ....quota.objects.meta import Meta
from ....quota.objects.queue import QueueSpec
from ....quota.objects.wire import Wire
from ....settings import Settings
from ... import sentences
from ...cluster_error import ClusterError
from .scheduler_plugins import old_plugins

_GROUP: Final = "/apis/scheduling.volcano.sh/v1beta1"
_JOBS: Final = "/apis/batch.volcano.sh/v1alpha1"
_PREFIX: Final = "volcano.sh/card"
OLD_PLUGIN: Final = "volcano.capacity-card"
"""Component of the events of Volcano's plugin `capacity-card`."""
KNOWN: Final = frozenset(
    text for text in vars(v).values() if isinstance(text, str) and text.startswith(_PREFIX)
)
"""All keys that begin with `volcano.sh/card` and mean something."""
_KEY: Final = re.compile(rb'"(volcano\.sh/card[^"\\]*)"')
_KNOWN: Final = frozenset(key.encode() for key in KNOWN)
_SCHEDULER: Final = re.compile(
    r"system:serviceaccount:(?P<namespace>[a-z0-9-]+):(?P<name>[a-z0-9.-]+-scheduler)"
)
_MOST_TASKS: Final = 1_000
_MOST_CONFIGURATIONS: Final = 20
_NOT_FOUND: Final = 404


class _NotedMeta(Meta):
    annotations: Any = None


class _Noted(Wire):
    metadata: _NotedMeta


class _NotedQueue(_Noted):
    spec: QueueSpec = msgspec.field(default_factory=QueueSpec)


class _Template(Wire):
    metadata: _NotedMeta | None = None


class _Task(Wire):
    template: _Template | None = None


class _Tasks(Wire):
    tasks: tuple[_Task, ...] | None = ()


class _NotedJob(_Noted):
    spec: _Tasks = msgspec.field(default_factory=_Tasks)


class _EventObject(Wire):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class _PluginEvent(Wire):
    metadata: Meta
    involved_object: _EventObject = msgspec.field(default_factory=_EventObject)
    first_timestamp: str | None = None


class _SchedulerConfiguration(Wire):
    metadata: Meta
    data: dict[str, Any] | None = None


_decode_noted: Final = msgspec.json.Decoder(_Noted).decode


class NotedObject(NamedTuple):
    """An object that somebody wrote."""

    kind: str
    namespace: str
    name: str
    since: int | None
    """When it was created, seconds since 1970."""
    problem: str = ""
    """Why its annotation `card.request` cannot be read; empty if it can, or if there is none."""
    unknown: tuple[str, ...] = ()
    """Keys of annotations that look like ours and mean nothing."""
    mistyped: tuple[tuple[str, str], ...] = ()
    """Of a queue: keys that were meant to be ours, each with the one that was meant. They are not
    among `unknown`."""
    spec: QueueSpec | None = None
    """Of a queue."""
    has_quota: bool = False
    """Of a queue: whether it has `card.quota`, whatever that says."""
    plugins: tuple[str, ...] = ()
    """Of a configuration: the old plugins that it names."""


class NotedPods:
    """Pods with keys of annotations that look like ours and mean nothing, found while pods are read
    for something else. Costs some microseconds for each pod that has none.
    """

    def __init__(self) -> None:
        self.found: list[NotedObject] = []

    def look(self, raw: msgspec.Raw) -> None:
        """A pod as it came. One that cannot be read is left out: `past` names it."""
        if _KNOWN.issuperset(_KEY.findall(raw)):
            return
        try:
            noted = _noted("Pod", _decode_noted(raw))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return
        if noted.unknown:
            self.found.append(noted)


@dataclass(slots=True)
class Leftovers:
    """What was read. Of objects only those that may be leftovers are kept."""

    objects: list[NotedObject] = field(default_factory=list)
    told_by_plugin: dict[tuple[str, str, str], NotedObject] = field(default_factory=dict)
    """Of whom the old plugin says that they wait, by events that are still there."""
    notes: list[str] = field(default_factory=list)
    """What was not read, and why."""


async def read_leftovers(
    client: Client,
    namespace: str,
    settings: Settings,
    *,
    pods: Iterable[NotedObject] = (),
    pods_unread: str = "",
) -> Leftovers:
    """Page by page. In a namespace only what is in it. What the user may not list is left out, with
    a note; what the API server does not have is none. Errors: ClusterError.

    `pods`: those that were noted when all were read; `pods_unread`: why they were not.
    """
    found = Leftovers()
    kinds: tuple[tuple[str, str, type[_Noted]], ...] = (
        ("Queue", "" if namespace else f"{_GROUP}/queues", _NotedQueue),
        ("PodGroup", _inside(f"{_GROUP}/podgroups", namespace), _Noted),
        ("Job", _inside(f"{_JOBS}/jobs", namespace), _NotedJob),
    )
    for kind, path, struct in kinds:
        if path:
            async for one in _listed(client, found, path, struct, {}):
                noted = _noted(kind, one)
                if noted.unknown or noted.problem or noted.spec is not None:
                    found.objects.append(noted)
    found.objects += (one for one in pods if namespace in ("", one.namespace))
    if pods_unread and not pods_unread.startswith(f"{_NOT_FOUND} "):
        found.notes.append(_not_read("pods", pods_unread))
    path = _inside("/api/v1/events", namespace)
    selector = {"fieldSelector": f"source={OLD_PLUGIN}"}
    async for event in _listed(client, found, path, _PluginEvent, selector):
        about, since = event.involved_object, seconds_of(event.first_timestamp)
        one = NotedObject(about.kind, about.namespace, about.name, since)
        found.told_by_plugin.setdefault((about.kind, about.namespace, about.name), one)
    if not namespace:
        await _read_configurations(client, found, settings)
    return found


def _inside(path: str, namespace: str) -> str:
    head, _, kind = path.rpartition("/")
    return f"{head}/namespaces/{namespace}/{kind}" if namespace else path


async def _listed(
    client: Client, found: Leftovers, path: str, struct: type[Any], selector: dict[str, str]
) -> AsyncIterator[Any]:
    """What does not have the form of its kind is left out: `past` names it."""
    kind = path.rpartition("/")[2]
    try:
        async for one in list_objects(client, path, struct, selector=selector):
            if not isinstance(one, Unreadable):
                yield one
    except ApiError as error:
        if not error.absent:
            raise ClusterError(sentences.not_listed(kind, str(error))) from error
        _note_absent(found, kind, error)
    except OutcomeUnknown as error:
        raise ClusterError(sentences.not_listed(kind, str(error))) from error
    except msgspec.MsgspecError as error:
        raise ClusterError(sentences.not_listed(kind, sentences.NO_LIST)) from error


def _note_absent(found: Leftovers, what: str, error: ApiError) -> None:
    if error.status != _NOT_FOUND:
        found.notes.append(_not_read(what, str(error)))


def _not_read(what: str, answer: str) -> str:
    return f"{sentences.not_listed(what, answer)}: {sentences.LEFTOVERS_NOT_KNOWN}"


def _noted(kind: str, one: Any) -> NotedObject:
    meta = one.metadata
    notes = _annotations(meta)
    keys = {key for key in notes if _looks_like_ours(key)}
    if isinstance(one, _NotedJob):
        keys.update(_keys_of_tasks(one))
    request = notes.get(v.REQUEST) if kind in ("PodGroup", "Job") else None
    found = KEYS_OF_QUEUES.meaningless(sorted(notes)) if kind == "Queue" else []
    mistyped = tuple((key, meant) for key, meant in found if meant)
    keys.difference_update(key for key, _ in mistyped)
    return NotedObject(
        kind,
        meta.namespace,
        meta.name,
        seconds_of(meta.creation_timestamp),
        problem=group_request(request, None).problem if isinstance(request, str) else "",
        unknown=tuple(sorted(keys)),
        mistyped=mistyped,
        spec=one.spec if isinstance(one, _NotedQueue) else None,
        has_quota=v.QUOTA in notes,
    )


def _keys_of_tasks(job: _NotedJob) -> Iterator[str]:
    for task in islice(job.spec.tasks or (), _MOST_TASKS):
        if task.template is not None and task.template.metadata is not None:
            notes = _annotations(task.template.metadata)
            yield from (key for key in notes if _looks_like_ours(key))


def _annotations(meta: _NotedMeta) -> dict[str, Any]:
    return meta.annotations if isinstance(meta.annotations, dict) else {}


def _looks_like_ours(key: str) -> bool:
    return key.startswith(_PREFIX) and key not in KNOWN


async def _read_configurations(client: Client, found: Leftovers, settings: Settings) -> None:
    """The one in `volcano.configuration`, and those of the schedulers in `volcano.accounts`, by the
    names that Volcano's manifests and its chart give them.
    """
    for namespace, name in islice(_configurations(settings), _MOST_CONFIGURATIONS):
        path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
        try:
            one = msgspec.json.decode(await client.get(path), type=_SchedulerConfiguration)
        except ApiError as error:
            if not error.absent:
                raise ClusterError(sentences.not_listed("configmaps", str(error))) from error
            _note_absent(found, f"configmaps of {namespace}", error)
            continue
        except OutcomeUnknown as error:
            raise ClusterError(sentences.not_listed("configmaps", str(error))) from error
        except msgspec.MsgspecError:
            continue
        texts = [text for text in (one.data or {}).values() if isinstance(text, str)]
        plugins = old_plugins(texts)
        if plugins:
            since = seconds_of(one.metadata.creation_timestamp)
            noted = NotedObject("ConfigMap", namespace, name, since, plugins=plugins)
            found.objects.append(noted)


def _configurations(settings: Settings) -> Iterator[tuple[str, str]]:
    named = tuple(settings.volcano.configuration.split("/"))
    found = (_SCHEDULER.fullmatch(account) for account in settings.volcano.accounts)
    others = ((one["namespace"], f"{one['name']}-configmap") for one in found if one is not None)
    yield from dict.fromkeys(((named[0], named[1]), *others))
