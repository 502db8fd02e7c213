"""The part of the API server: objects with resource versions and times, passed to the ledger.

Time advances with every write, so the order of creation is the order of the files: by a second, or
where the caller says what time it is by less.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from ...quota import vocabulary as v
from ...quota.ledger.groups.group_facts import group_facts
from ...quota.ledger.ledger import Ledger
from ...quota.objects.pod import Gate, Pod, PodAnnotations, PodCondition, PodLabels, PodStatus
from ...quota.objects.pod_group import GroupAnnotations, PodGroup
from ...quota.pods.pod_facts import PodFacts, pod_facts
from ...quota.stamp import Reservation, Stamp, allocated_text, reservation_text

BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST: Final = 250_000_000_000
"""No time of a file counts as later than this, which leaves room for all that comes after it."""


class FakeCluster:
    """Pods by uid and pod groups by key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._revision = 0
        self._groups: dict[str, PodGroup] = {}
        self.pods: dict[str, Pod] = {}
        self.beginning = BEGINNING
        """What seconds are counted from."""
        self._second: int | None = None
        self._since = 0

    def at(self, second: int) -> None:
        """Say what time it is: seconds after the beginning."""
        if second != self._second:
            self._second, self._since = second, self._revision

    def begin_after(self, second: int) -> None:
        """Whatever is created from now on is newer than what was at this time, in seconds since
        1970.
        """
        moment = datetime.fromtimestamp(min(second, _LATEST) + 1, UTC)
        self.beginning = max(self.beginning, moment)

    def taken_in(self, pod: Pod) -> Pod:
        """A pod of a live cluster, as it stands there. It is not stored yet."""
        meta = pod.metadata
        if meta.uid and meta.uid not in self.pods:
            return pod
        uid = f"live-{len(self.pods):09}"
        return replace(pod, metadata=replace(meta, uid=uid))

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

    def take_in(self, pod: Pod, facts: PodFacts) -> None:
        """Store a pod of a live cluster as it stands there. `facts`: its own."""
        facts.revision, _ = self._tick()
        self.pods[facts.uid] = pod
        self._ledger.pod_seen(facts)

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

    def delete(self, uid: str) -> None:
        """A pod is gone."""
        del self.pods[uid]
        self._ledger.pod_gone(uid)

    def group(self, key: str) -> PodGroup | None:
        """The pod group of this `namespace/name`, as it is stored."""
        return self._groups.get(key)

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

    def delete_group(self, key: str) -> None:
        """A pod group is gone."""
        del self._groups[key]
        self._ledger.group_gone(key)

    def write_reservation(self, key: str, reservation: Reservation) -> None:
        """The write-ahead mark of a gang."""
        group = self._groups[key]
        notes = group.metadata.annotations or GroupAnnotations()
        notes = replace(notes, reservation=reservation_text(reservation))
        self.put_group(replace(group, metadata=replace(group.metadata, annotations=notes)))

    def _tick(self) -> tuple[int, str]:
        """A resource version and a time, both later than all before."""
        self._revision += 1
        seconds, fraction = self._revision, ""
        if self._second is not None:
            seconds, fraction = self._second, f".{self._revision - self._since:09}"
        moment = self.beginning + timedelta(seconds=seconds)
        return self._revision, f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


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
