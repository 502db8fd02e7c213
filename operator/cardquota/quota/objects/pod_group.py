"""Pod groups: queue, minimum and reservation."""

from msgspec import field

from .. import vocabulary as v
from .meta import Meta, Owner
from .wire import ResourceList, Wire


class GroupAnnotations(Wire):
    """The annotations of a pod group that mean something to us."""

    request: str | None = field(default=None, name=v.REQUEST)
    reservation: str | None = field(default=None, name=v.RESERVATION)


class GroupMeta(Meta):
    """Metadata of a pod group."""

    annotations: GroupAnnotations | None = None


class GroupSpec(Wire):
    """Specification of a pod group."""

    queue: str | None = None
    min_member: int | None = None
    min_resources: ResourceList | None = None
    priority_class_name: str | None = None


class GroupStatus(Wire):
    """Status of a pod group."""

    phase: str | None = None
    running: int | None = None


class PodGroup(Wire):
    """A pod group."""

    metadata: GroupMeta
    spec: GroupSpec = field(default_factory=GroupSpec)
    status: GroupStatus = field(default_factory=GroupStatus)


class WrittenGroupMeta(GroupMeta):
    """Metadata of a pod group that is being written."""

    owner_references: tuple[Owner, ...] | None = None


class WrittenGroupSpec(GroupSpec):
    """Specification of a pod group that is being written."""

    min_task_member: dict[str, int] | None = None


class WrittenPodGroup(PodGroup):
    """A pod group that is being written: with what counts only then."""

    metadata: WrittenGroupMeta
    spec: WrittenGroupSpec = field(default_factory=WrittenGroupSpec)
