"""Pod groups: queue, minimum and reservation."""

from msgspec import field

from .. import vocabulary as v
from .meta import Meta, Owner, ResourceList, Wire


class GroupAnnotations(Wire):
    """The annotations of a pod group that mean something to us."""

    request: str | None = field(default=None, name=v.REQUEST)
    reservation: str | None = field(default=None, name=v.RESERVATION)
    settled: str | None = field(default=None, name=v.SETTLE)
    plan: str | None = field(default=None, name=v.RECLAIM_PLAN)
    preemptable: str | None = field(default=None, name=v.PREEMPTABLE)


class GroupLabels(Wire):
    """The labels of a pod group that mean something to us."""

    preemptable: str | None = field(default=None, name=v.PREEMPTABLE)


class GroupMeta(Meta):
    """Metadata of a pod group."""

    annotations: GroupAnnotations | None = None
    labels: GroupLabels | None = None


class GroupSpec(Wire):
    """Specification of a pod group."""

    queue: str | None = None
    min_member: int | None = None
    min_resources: ResourceList | None = None
    priority_class_name: str | None = None
    min_task_member: dict[str, int] | None = None


class GroupStatusCondition(Wire):
    """A condition of a pod group."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    last_transition_time: str | None = None


class GroupColumns(Wire):
    """What `kubectl get podgroups` prints of the status, as text."""

    cards: str | None = None


class _GroupStatus(Wire):
    phase: str | None = None
    running: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    columns: GroupColumns | None = None
    conditions: tuple[GroupStatusCondition, ...] | None = None


class PodGroup(Wire):
    """A pod group."""

    metadata: GroupMeta
    spec: GroupSpec = field(default_factory=GroupSpec)
    status: _GroupStatus = field(default_factory=_GroupStatus)


class WrittenGroupMeta(GroupMeta):
    """Metadata of a pod group that is being written."""

    owner_references: tuple[Owner, ...] | None = None


class WrittenPodGroup(PodGroup):
    """A pod group that is being written: with what counts only then."""

    metadata: WrittenGroupMeta
