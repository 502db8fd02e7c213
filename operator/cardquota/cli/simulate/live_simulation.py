"""Workloads of files in a live cluster, whose pods hold what they hold. Nothing is created there.

The leader's next step comes first: pods that wait in the cluster and fit now are let through before
any of the files, as they would be. Then each workload is written, in the order of the files.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from ...quota.accounts.queue_facts import queue_facts
from ...quota.objects.meta import Meta
from ...quota.objects.pod import Pod
from ...quota.objects.pod_group import WrittenPodGroup
from ...quota.pods.pod_facts import pod_facts
from ...quota.reports.queue_report import report
from ...quota.words import logged
from ...settings import Settings
from .. import sentences
from ..files.inventory import Inventory, WrittenWorkload
from ..files.workload_objects import VolcanoJob
from .answers import Answers, PodAnswer, WorkloadAnswer
from .cluster_objects import ClusterObjects
from .fake_cluster import BEGINNING
from .simulation import Simulation
from .workloads import expand

T = TypeVar("T")
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
    place of what is there by that name.

    Not guaranteed: what another scheduler decides, or what changes meanwhile.
    """

    def __init__(self, settings: Settings, files: Inventory, cluster: ClusterObjects) -> None:
        self._live = cluster
        self._written = files.workloads
        written = {queue.metadata.name for queue in files.queues}
        self._queues = [one for one in cluster.queues if one.metadata.name not in written]
        both = Inventory(queues=files.queues, notes=[*files.notes, *cluster.notes])
        for kind in _KINDS:
            setattr(both, kind, _together(getattr(files, kind), getattr(cluster, kind)))
        super().__init__(settings, both)

    def judge(self, now: float) -> Answers:
        """`now`: seconds since 1970. The queues of the answer are those of the workloads."""
        for queue in self._queues:
            try:
                self.ledger.queue_seen(queue_facts(queue))
            except (ValueError, TypeError) as error:
                self._leave_out("queues", queue.metadata, error)
        self.see_cluster()
        self._take_in_groups()
        self._take_in_pods(self._live.pods)
        self.at(max(0, int(now - BEGINNING.timestamp())))
        self.release()
        for workload in self._written:
            self._write(workload)
        self._explain_waiting()
        named = {pod.queue for found in self.answers.workloads for pod in found.pods}
        reports = (report(self.ledger, queue) for queue in sorted(named))
        self.answers.queues += [found for found in reports if found is not None]
        return self.finished()

    def _take_in_groups(self) -> None:
        for group in self._live.groups:
            try:
                self.put_group(group)
            except (ValueError, TypeError) as error:
                self._leave_out("podgroups", group.metadata, error)

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
                self._cluster.put(pod)
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

    def _write(self, workload: WrittenWorkload | WrittenPodGroup) -> None:
        if isinstance(workload, WrittenPodGroup):
            if self._accepts_group(workload):
                self.put_group(workload)
                self.release()
            return
        made, meta = expand(workload, self._nodes.matching), workload.body.metadata
        found = WorkloadAnswer(workload.kind, meta.namespace, meta.name, note=made.note)
        self.answers.workloads.append(found)
        if isinstance(workload.body, VolcanoJob) and not self._accepts_job(workload.body):
            found.note = sentences.JOB_REFUSED
            return
        if made.group is not None:
            if not self._accepts_group(made.group, by_controller=True):
                found.note = sentences.GROUP_REFUSED
                return
            self.put_group(made.group)
        for pod in made.pods:
            self._look_for_class(pod.spec.runtime_class_name or "")
            _, answer = self.create(pod)
            found.pods.append(answer)
            self.release()


def _together(written: list[T], there: list[T]) -> list[T]:
    """Those of the files, and what is there by no name of theirs."""
    names = {_names(one) for one in written}
    return [*written, *(one for one in there if _names(one) not in names)]


def _names(one: object) -> tuple[str, str]:
    meta: Meta = one.metadata  # type: ignore[attr-defined]
    return meta.namespace, meta.name
