"""The part of the API server: objects with resource versions and times, passed to the ledger.

Time advances by a second with every write, so the order of creation is the order of the files.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from ...quota import vocabulary as v
from ...quota.ledger.groups.group_facts import group_facts
from ...quota.ledger.ledger import Ledger
from ...quota.objects.cluster import PriorityClass
from ...quota.objects.pod import (
    Gate,
    Pod,
    PodAnnotations,
    PodCondition,
    PodLabels,
    PodSpec,
    PodStatus,
)
from ...quota.objects.pod_group import GroupAnnotations, PodGroup
from ...quota.pods.pod_facts import pod_facts
from ...quota.stamp import Reservation, Stamp, allocated_text, reservation_text

_BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)


class FakeCluster:
    """Pods by uid and pod groups by key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._revision = 0
        self._groups: dict[str, PodGroup] = {}
        self.pods: dict[str, Pod] = {}

    def created(self, pod: Pod) -> Pod:
        """The pod with what the API server adds at create. It is not stored yet."""
        revision, moment = self._tick()
        uid = f"pod-{revision:09}"
        return replace(
            pod,
            metadata=replace(
                pod.metadata,
                uid=uid,
                resource_version=str(revision),
                creation_timestamp=moment,
                deletion_timestamp=None,
            ),
            status=PodStatus(),
        )

    def put(self, pod: Pod) -> None:
        """Store a pod, new or changed."""
        revision, _ = self._tick()
        stored = replace(pod, metadata=replace(pod.metadata, resource_version=str(revision)))
        self.pods[pod.metadata.uid] = stored
        self._ledger.pod_seen(pod_facts(stored))

    def open_gate(self, uid: str, stamp: Stamp) -> None:
        """The one patch that opens a pod's gate."""
        pod = self.pods[uid]
        gates = tuple(g for g in pod.spec.scheduling_gates or () if g.name != v.GATE)
        notes = replace(
            pod.metadata.annotations or PodAnnotations(),
            allocated=allocated_text(stamp.cards),
            charged_queue=stamp.queue,
            term=stamp.term,
        )
        labels = replace(pod.metadata.labels or PodLabels(), managed=v.IS_MANAGED)
        meta = replace(pod.metadata, annotations=notes, labels=labels)
        self.put(replace(pod, metadata=meta, spec=replace(pod.spec, scheduling_gates=gates)))

    def bind(self, uid: str, node: str) -> None:
        """A pod gets its node."""
        _, moment = self._tick()
        pod = self.pods[uid]
        bound = PodCondition(type="PodScheduled", status="True", last_transition_time=moment)
        spec = replace(pod.spec, node_name=node)
        self.put(replace(pod, spec=spec, status=PodStatus(conditions=(bound,))))

    def put_group(self, group: PodGroup) -> None:
        """Store a pod group, new or changed."""
        revision, moment = self._tick()
        meta = group.metadata
        stored = replace(
            group,
            metadata=replace(
                meta,
                uid=meta.uid or f"group-{revision:09}",
                resource_version=str(revision),
                creation_timestamp=meta.creation_timestamp or moment,
            ),
        )
        facts = group_facts(stored)
        self._groups[facts.key] = stored
        self._ledger.group_seen(facts)

    def write_reservation(self, key: str, reservation: Reservation) -> None:
        """The write-ahead mark of a gang."""
        group = self._groups[key]
        notes = group.metadata.annotations or GroupAnnotations()
        notes = replace(notes, reservation=reservation_text(reservation))
        self.put_group(replace(group, metadata=replace(group.metadata, annotations=notes)))

    def _tick(self) -> tuple[int, str]:
        """A resource version and a time, both later than all before."""
        self._revision += 1
        moment = _BEGINNING + timedelta(seconds=self._revision)
        return self._revision, f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def gated(pod: Pod) -> Pod:
    """The pod with our gate, as the webhook adds it."""
    gates = pod.spec.scheduling_gates or ()
    if any(gate.name == v.GATE for gate in gates):
        return pod
    return replace(pod, spec=replace(pod.spec, scheduling_gates=(*gates, Gate(name=v.GATE))))


def ungated(pod: Pod) -> Pod:
    """The pod without our gate: the webhook removes one that would never open."""
    gates = tuple(gate for gate in pod.spec.scheduling_gates or () if gate.name != v.GATE)
    return replace(pod, spec=replace(pod.spec, scheduling_gates=gates))


_BUILT_IN: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class Priorities:
    """The priority classes of the files, and those that every cluster has."""

    def __init__(self, classes: Iterable[PriorityClass]) -> None:
        self._default = 0
        self._values = dict(_BUILT_IN)
        self._missing: dict[str, None] = {}
        for found in classes:
            self._values[found.metadata.name] = found.value
            if found.global_default:
                self._default = found.value

    def applied(self, spec: PodSpec) -> PodSpec:
        """The specification with its priority."""
        name = spec.priority_class_name
        if not name:
            return replace(spec, priority=self._default)
        if name not in self._values:
            self._missing[name] = None
        return replace(spec, priority=self._values.get(name, self._default))

    @property
    def notes(self) -> list[str]:
        """The priority classes that pods name and that are not there."""
        return [
            f"PriorityClass {name} is not in the files: its pods are taken as if they named none"
            for name in self._missing
        ]
