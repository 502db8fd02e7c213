"""Workloads of files in a live cluster, whose pods hold what they hold. Nothing is created there.

The leader's next step comes first: pods that wait in the cluster and fit now are let through before
any of the files, as they would be. Then each workload is written, in the order of the files, as
`kubectl apply` does it: of one that is there already only the pods that it lacks are created.
"""

import re
from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from ...quota.accounts.queue_facts import queue_facts
from ...quota.objects.meta import Meta
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import (
    GroupAnnotations,
    GroupStatus,
    PodGroup,
    WrittenPodGroup,
)
from ...quota.objects.queue import Queue, QueueAnnotations
from ...quota.pods.pod_facts import pod_facts
from ...quota.reports.queue_report import report
from ...quota.words import logged
from ...settings import Settings
from .. import sentences
from ..files.inventory import Inventory, WrittenWorkload
from ..files.workload_objects import BatchJob, VolcanoJob
from .answers import Answers, PodAnswer, RefusedObject, WorkloadAnswer
from .cluster_objects import ClusterObjects
from .fake_cluster import BEGINNING
from .live_objects import Maker, Makers, is_finished, is_live
from .simulation import Simulation

T = TypeVar("T")
_UID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UID_LENGTH: Final = 36
_KINDS: Final = (
    "nodes",
    "namespaces",
    "priority_classes",
    "limit_ranges",
    "runtime_classes",
    "device_classes",
)


class LiveSimulation(Simulation):
    """To be used once. What the files have of the cluster's own objects (a queue, a node) takes the
    place of what is there by that name; of a queue and a pod group the status stays.

    Not guaranteed: what another scheduler decides, or what changes meanwhile. Nor what becomes of
    pods that are there when the template of their workload has changed: they stay.
    """

    where = "in the cluster"

    def __init__(self, settings: Settings, files: Inventory, cluster: ClusterObjects) -> None:
        self._live = cluster
        self._written = files.workloads
        there = {queue.metadata.name: queue for queue in cluster.queues}
        queues = [_applied(queue, there.get(queue.metadata.name)) for queue in files.queues]
        both = Inventory(queues=queues, notes=[*files.notes, *cluster.notes])
        for kind in _KINDS:
            setattr(both, kind, _together(getattr(files, kind), getattr(cluster, kind)))
        super().__init__(settings, both)
        self._namespaces = {one.metadata.name for one in both.namespaces}
        self._groups: set[str] = set()
        self._job_uids: dict[str, str] = {}
        """By `namespace/name` of a Job of Volcano that has a pod group there."""

    def judge(self, now: float) -> Answers:
        """`now`: seconds since 1970. The queues of the answer are those of the workloads."""
        self.see_cluster()
        self._take_in_queues()
        self._take_in_groups()
        self._take_in_pods(self._live.pods)
        self.at(max(0, int(now - BEGINNING.timestamp())))
        self.release()
        there = set(self._by_uid)
        self._write_all()
        self._explain_waiting(self._by_uid.keys() - there)  # of the others nothing is shown
        named = {pod.queue for found in self.answers.workloads for pod in found.pods}
        reports = (report(self.ledger, queue) for queue in sorted(named))
        self.answers.queues += [found for found in reports if found is not None]
        return self.finished()

    def _take_in_queues(self) -> None:
        """Those whose place none of the files takes. One that is refused takes none."""
        refused = {one.name for one in self.answers.refused if one.kind == "Queue"}
        taken = {queue.metadata.name for queue in self._inventory.queues} - refused
        for queue in self._live.queues:
            if queue.metadata.name in taken:
                continue
            try:
                self.ledger.queue_seen(queue_facts(queue))
            except (ValueError, TypeError) as error:
                self._leave_out("queues", queue.metadata, error)

    def _take_in_groups(self) -> None:
        for group in self._live.groups:
            try:
                self.put_group(group)
            except (ValueError, TypeError) as error:
                self._leave_out("podgroups", group.metadata, error)
                continue
            key = f"{group.metadata.namespace}/{group.metadata.name}"
            self._groups.add(key)
            if _UID.fullmatch(key[-_UID_LENGTH:]):
                self._job_uids[key[: -_UID_LENGTH - 1]] = key[-_UID_LENGTH:]

    def _take_in_pods(self, pods: Iterable[Pod]) -> None:
        """As after a restart of the operator. Pods that are let through and have no node get one
        before those of the files.
        """
        waiting: list[str] = []
        for pod in pods:
            try:
                facts = pod_facts(pod)
                if facts.state.finished:
                    continue
                self._cluster.take_in(pod, facts)
            except (ValueError, TypeError) as error:
                self._leave_out("pods", pod.metadata, error)
                continue
            if facts.node:
                self._nodes.hold(facts)
            record = self.ledger.pods.get(facts.uid)
            if record is not None:
                self._by_uid[facts.uid] = PodAnswer(facts.name)
                if not facts.node and not record.gated:
                    waiting.append(facts.uid)
        for uid in waiting:
            self.try_to_bind(uid)

    def _leave_out(self, kind: str, meta: Meta, error: Exception) -> None:
        name = logged(*filter(None, (meta.namespace, meta.name)))
        self.answers.notes.append(sentences.object_left_out(kind, name, str(error)))

    def _write_all(self) -> None:
        """The workloads and pod groups, in the order of the files. Pods that were read from a
        cluster are left out: they are here, or their workload makes them.
        """
        makers = Makers(self._written)
        pods: dict[Maker, list[Pod]] = {}
        here: set[tuple[str, str]] = set()
        for pod in self._live.pods:
            here.add((pod.metadata.namespace, pod.metadata.name))
            pods.setdefault(makers.of(pod), []).append(pod)
        left_out = {True: 0, False: 0}
        for workload in self._written:
            if isinstance(workload, WrittenPodGroup):
                self._write_group(workload)
                continue
            meta = workload.body.metadata
            if isinstance(workload.body, Pod) and is_live(workload.body):
                left_out[(meta.namespace, meta.name) in here] += 1
            elif not makers.is_made(workload):
                maker = Maker(workload.kind, meta.namespace, meta.name)
                self._write(workload, pods.get(maker, []))
        self.answers.notes += [
            sentences.pods_left_out(number, there=there)
            for there, number in left_out.items()
            if number
        ]

    def _write_group(self, group: WrittenPodGroup) -> None:
        meta = group.metadata
        key = f"{meta.namespace}/{meta.name}"
        if meta.namespace not in self._namespaces:
            text = sentences.no_namespace(meta.namespace)
            self.answers.refused.append(RefusedObject("PodGroup", key, text))
            return
        there = self._cluster.group(key)
        before = None
        if there is not None:
            before = msgspec.convert(msgspec.to_builtins(there), WrittenPodGroup)
        if self._accepts_group(group, before):
            self.put_group(_changed(group, there))
            self.release()

    def _write(self, workload: WrittenWorkload, there: list[Pod]) -> None:
        """`there`: the pods that it has."""
        meta = workload.body.metadata
        if meta.namespace not in self._namespaces:
            note = sentences.no_namespace(meta.namespace)
            self.answers.workloads.append(
                WorkloadAnswer(workload.kind, meta.namespace, meta.name, note=note)
            )
            return
        self._apply(self._as_it_is(workload, there), self._groups, [], there)
        found, running = self.answers.workloads[-1], sum(not is_finished(pod) for pod in there)
        if running and found.pods and not found.note:
            found.note = sentences.some_there(running)

    def _as_it_is(self, workload: WrittenWorkload, there: list[Pod]) -> WrittenWorkload:
        """The workload with what the cluster tells of it: how many pods of a Job have succeeded,
        and the uid of a Job of Volcano, by which its pod group is named.
        """
        body = workload.body
        if isinstance(body, BatchJob) and body.status.succeeded is None:
            succeeded = sum(pod.status.phase == "Succeeded" for pod in there)
            status = replace(body.status, succeeded=succeeded or None)
            return WrittenWorkload(workload.kind, replace(body, status=status))
        if isinstance(body, VolcanoJob):
            uid = self._job_uids.get(f"{body.metadata.namespace}/{body.metadata.name}", "")
            return WrittenWorkload(
                workload.kind, replace(body, metadata=replace(body.metadata, uid=uid))
            )
        return workload


def _applied(queue: Queue, there: Queue | None) -> Queue:
    """The queue of the files as it stands once it is written over the one that is there. What the
    status keeps is that one's: its state, the last good quota, the names of resources.
    """
    if there is None:
        return queue
    said = queue.metadata.annotations or QueueAnnotations()
    kept = there.metadata.annotations or QueueAnnotations()
    notes = replace(said, status=kept.status, state=said.state or kept.state)
    meta = replace(there.metadata, annotations=notes)
    return replace(queue, metadata=meta, status=there.status)


def _changed(group: WrittenPodGroup, there: PodGroup | None) -> PodGroup:
    """The group as it stands once it is written: over the one that is there it changes no more than
    the specification and what it asks for. What a file says was reserved means nothing.
    """
    request = (group.metadata.annotations or GroupAnnotations()).request
    if there is not None:
        notes = replace(there.metadata.annotations or GroupAnnotations(), request=request)
        return replace(there, metadata=replace(there.metadata, annotations=notes), spec=group.spec)
    meta = replace(
        group.metadata,
        uid="",
        creation_timestamp=None,
        annotations=GroupAnnotations(request=request),
    )
    return replace(group, metadata=meta, status=GroupStatus())


def _together(written: list[T], there: list[T]) -> list[T]:
    """Those of the files, and what is there by no name of theirs."""
    names = {_names(one) for one in written}
    return [*written, *(one for one in there if _names(one) not in names)]


def _names(one: object) -> tuple[str, str]:
    meta: Meta = one.metadata  # type: ignore[attr-defined]
    return meta.namespace, meta.name
