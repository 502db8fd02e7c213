"""What a live cluster has, read once: all that decides on pods, and the pods."""

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from ...cluster.api.access import Access
from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.watch.listing import Unreadable, list_objects
from ...quota.objects.device_class import DeviceClass
from ...quota.objects.limit_range import LimitRange
from ...quota.objects.namespace import Namespace
from ...quota.objects.node import Node
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import PodGroup
from ...quota.objects.priority_class import PriorityClass
from ...quota.objects.queue import Queue
from ...quota.objects.runtime_class import RuntimeClass
from ...quota.vocabulary import API_GROUP, VERSION
from ...quota.words import logged
from .. import sentences
from ..cluster_error import ClusterError

T = TypeVar("T", bound=msgspec.Struct)
_QUEUES: Final = f"/apis/{API_GROUP}/{VERSION}/queues"
_NOT_FOUND: Final = 404
_CLASSES: Final = tuple(
    f"/apis/resource.k8s.io/{version}/deviceclasses" for version in ("v1", "v1beta2", "v1beta1")
)


@dataclass(slots=True, repr=False)
class ClusterObjects:
    """By kind."""

    nodes: list[Node] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)
    namespaces: list[Namespace] = field(default_factory=list)
    groups: list[PodGroup] = field(default_factory=list)
    priority_classes: list[PriorityClass] = field(default_factory=list)
    limit_ranges: list[LimitRange] = field(default_factory=list)
    runtime_classes: list[RuntimeClass] = field(default_factory=list)
    device_classes: list[DeviceClass] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was left out."""


async def read_cluster_objects(access: Access) -> ClusterObjects:
    """All of them, page by page. Without the right to list classes and limit ranges these are left
    out, with a note; all else is needed.

    Errors: ClusterError.
    """
    reader = _ObjectReader(Client(access))
    found = reader.found
    try:
        found.queues = await reader.needed(_QUEUES, Queue)
        found.nodes = await reader.needed("/api/v1/nodes", Node)
        found.namespaces = await reader.needed("/api/v1/namespaces", Namespace)
        groups = f"/apis/{API_GROUP}/{VERSION}/podgroups"
        found.groups = await reader.optional((groups,), PodGroup, forbidden=False)
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        found.priority_classes = await reader.optional((classes,), PriorityClass)
        found.limit_ranges = await reader.optional(("/api/v1/limitranges",), LimitRange)
        runtimes = "/apis/node.k8s.io/v1/runtimeclasses"
        found.runtime_classes = await reader.optional((runtimes,), RuntimeClass)
        found.device_classes = await reader.optional(_CLASSES, DeviceClass)
        found.pods = await reader.needed("/api/v1/pods", Pod)
    finally:
        await reader.client.close()
    return found


class _ObjectReader:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.found = ClusterObjects()

    async def needed(self, path: str, struct: type[T]) -> list[T]:
        """All objects of a kind. Errors: ClusterError."""
        kind = path.rpartition("/")[2]
        try:
            return await self._listed(path, struct)
        except ApiError as error:
            if path == _QUEUES and error.status == _NOT_FOUND:
                raise ClusterError(sentences.NO_QUEUE_KIND) from error
            raise ClusterError(sentences.not_listed(kind, str(error))) from error
        except OutcomeUnknown as error:
            raise ClusterError(sentences.not_listed(kind, str(error))) from error
        except msgspec.MsgspecError as error:
            raise ClusterError(sentences.not_listed(kind, sentences.NO_LIST)) from error

    async def optional(
        self, paths: Iterable[str], struct: type[T], *, forbidden: bool = True
    ) -> list[T]:
        """The same by the first path that is served; none if none is. `forbidden`: whether there is
        an answer without the right to list them.
        """
        for path in paths:
            try:
                return await self.needed(path, struct)
            except ClusterError as error:
                cause = error.__cause__
                if not isinstance(cause, ApiError) or not cause.absent:
                    raise
                if cause.status != _NOT_FOUND:
                    if not forbidden:
                        raise
                    self.found.notes.append(sentences.judged_without(str(error)))
                    break
        return []

    async def _listed(self, path: str, struct: type[T]) -> list[T]:
        objects: list[T] = []
        async with aclosing(list_objects(self.client, path, struct, ahead=True)) as listed:
            async for one in listed:
                if isinstance(one, Unreadable):
                    kind, name = (
                        path.rpartition("/")[2],
                        logged(*filter(None, (one.namespace, one.name))),
                    )
                    self.found.notes.append(sentences.object_left_out(kind, name, one.error))
                else:
                    objects.append(one)
        return objects
