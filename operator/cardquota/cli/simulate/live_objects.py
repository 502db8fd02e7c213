"""What of the files was read from a live cluster: the pods and pod groups that are there, and which
workload of the files makes which of these pods.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...quota.moments import seconds_of
from ...quota.objects.meta import Meta, Owner
from ...quota.objects.pod import Pod, PodAnnotations
from ...quota.objects.pod_group import WrittenPodGroup
from ..files.inventory import VOLCANO_JOB, WrittenWorkload
from ..files.workload_objects import Replicated

_HASH: Final = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{1,10}")
"""The suffix of a ReplicaSet after its Deployment's name: letters that spell no words."""
_VOLCANOS: Final = "batch.volcano.sh/"
_FINISHED: Final = ("Succeeded", "Failed")


class Maker(NamedTuple):
    """A workload, or a bare pod: what pods are shown under."""

    kind: str
    namespace: str
    name: str


@dataclass(slots=True)
class LiveObjects:
    """The objects of files, apart: what is there already, and what is created."""

    groups: list[WrittenPodGroup] = field(default_factory=list)
    pods: list[tuple[Pod, Maker]] = field(default_factory=list)
    written: list[WrittenWorkload | WrittenPodGroup] = field(default_factory=list)
    latest: int | None = None
    """When the last of those that are there was created, in seconds since 1970."""


def live_objects(workloads: Iterable[WrittenWorkload | WrittenPodGroup]) -> LiveObjects:
    """Tell what is there from what is created. ReplicaSets that a Deployment of the files has made
    are neither: their pods are the Deployment's.
    """
    every, found = list(workloads), LiveObjects()
    makers = Makers(every)
    for one in every:
        if isinstance(one, WrittenPodGroup):
            (found.groups if one.metadata.uid else found.written).append(one)
        elif isinstance(one.body, Pod) and is_live(one.body):
            found.pods.append((one.body, makers.of(one.body)))
        elif not makers.is_made(one):
            found.written.append(one)
    metas: list[Meta] = [group.metadata for group in found.groups]
    metas += [pod.metadata for pod, _ in found.pods]
    times = (seconds_of(meta.creation_timestamp) for meta in metas)
    found.latest = max((time for time in times if time is not None), default=None)
    return found


def is_live(pod: Pod) -> bool:
    """Whether a pod was read from a cluster: it has what only the API server, or the operator, has
    written. A node that somebody writes into a file is none of that.
    """
    notes = pod.metadata.annotations or PodAnnotations()
    bound_by_us = bool(pod.spec.node_name) and notes.charged_queue is not None
    return bool(pod.metadata.uid or pod.status.phase or bound_by_us)


def is_finished(pod: Pod) -> bool:
    """Whether it holds nothing any more (T1)."""
    return pod.status.phase in _FINISHED


class Makers:
    """Which workload of the files is behind a pod, wherever that pod was read."""

    def __init__(self, workloads: Iterable[WrittenWorkload | WrittenPodGroup]) -> None:
        self._there: set[Maker] = set()
        self._deployment_of: dict[Maker, Maker] = {}
        """By ReplicaSet: the Deployment that it says has made it."""
        for one in workloads:
            if isinstance(one, WrittenWorkload):
                meta = one.body.metadata
                self._there.add(own := Maker(one.kind, meta.namespace, meta.name))
                owner = one.body.metadata.maker if isinstance(one.body, Replicated) else None
                if one.kind == "ReplicaSet" and owner is not None and owner.kind == "Deployment":
                    self._deployment_of[own] = Maker("Deployment", meta.namespace, owner.name)

    def is_made(self, workload: WrittenWorkload) -> bool:
        """Whether it is a ReplicaSet of a Deployment of the files."""
        meta = workload.body.metadata
        deployment = self._deployment_of.get(Maker(workload.kind, meta.namespace, meta.name))
        return deployment in self._there

    def of(self, pod: Pod) -> Maker:
        """The workload of the files that makes it, else its controller, else the pod itself."""
        meta = pod.metadata
        owner = next((one for one in meta.owner_references if one.controller), None)
        if owner is None:
            return Maker("Pod", meta.namespace, meta.name)
        maker = Maker(_kind_of(owner), meta.namespace, owner.name)
        if maker.kind != "ReplicaSet":
            return maker
        deployment = self._deployment_of.get(maker)
        if deployment is None and maker not in self._there:
            name, dash, end = owner.name.rpartition("-")
            if dash and _HASH.fullmatch(end):
                deployment = Maker("Deployment", meta.namespace, name)
        return deployment if deployment is not None and deployment in self._there else maker


def _kind_of(owner: Owner) -> str:
    volcanos = owner.kind == "Job" and owner.api_version.startswith(_VOLCANOS)
    return VOLCANO_JOB if volcanos else owner.kind
