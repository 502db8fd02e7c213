"""Pod groups: queue, minimum and reservation."""

from typing import Final

from msgspec import Raw, field
from msgspec.json import Decoder
from msgspec.structs import asdict

from .. import vocabulary as v
from ..limits import ELEMENTS, elements_of
from .meta import Meta, Owner
from .wire import ResourceList, Wire


class GroupAnnotations(Wire):
    """The annotations of a pod group that mean something to us."""

    request: str | None = field(default=None, name=v.REQUEST)
    reservation: str | None = field(default=None, name=v.RESERVATION)
    settled: str | None = field(default=None, name=v.SETTLE)


class GroupMeta(Meta):
    """Metadata of a pod group."""

    annotations: GroupAnnotations | None = None


class PlainGroupSpec(Wire):
    """The part of a pod group's specification that is read of a group of any size."""

    queue: str | None = None
    min_member: int | None = None
    min_resources: ResourceList | None = None
    priority_class_name: str | None = None


class GroupSpec(PlainGroupSpec):
    """Specification of a pod group."""

    min_task_member: dict[str, int] | None = None


class GroupStatusCondition(Wire):
    """A condition of a pod group."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class GroupColumns(Wire):
    """What `kubectl get podgroups` prints of the status, as text."""

    cards: str | None = None


class GroupProgress(Wire):
    """The part of a pod group's status that has no list."""

    phase: str | None = None
    running: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    columns: GroupColumns | None = None


class GroupStatus(GroupProgress):
    """Status of a pod group."""

    conditions: tuple[GroupStatusCondition, ...] | None = None


class PodGroup(Wire):
    """A pod group."""

    metadata: GroupMeta
    spec: GroupSpec = field(default_factory=GroupSpec)
    status: GroupStatus = field(default_factory=GroupStatus)

    @staticmethod
    def decode(encoded: bytes | Raw) -> "PodGroup":
        """Decode a stored pod group of any size. Of one with too many elements in its conditions
        none of these is read: anybody may write some, and of ours there is one. What else is large
        must not hide ours: it would be written again and again. Of so many tasks none counts.
        """
        if elements_of(encoded) <= ELEMENTS.most:
            return _WHOLE.decode(encoded)
        found = _LARGE.decode(encoded)
        stored, few = found.status.conditions, elements_of(found.status.conditions) <= ELEMENTS.most
        conditions = _CONDITIONS.decode(stored) if stored and few else None
        progress = {**asdict(found.status), "conditions": conditions}
        status = GroupStatus(**progress)
        return PodGroup(metadata=found.metadata, spec=_spec_of(found.spec), status=status)


def _spec_of(found: "_LargeSpec") -> GroupSpec:
    """With an empty table of tasks where there are too many: they take long to decode."""
    stored = found.min_task_member
    few = elements_of(stored) <= ELEMENTS.most
    tasks = (_TASKS.decode(stored) if few else {}) if stored else None
    return GroupSpec(**{**asdict(found), "min_task_member": tasks})


class _LargeStatus(GroupProgress):
    conditions: Raw = Raw()


class _LargeSpec(PlainGroupSpec):
    min_task_member: Raw = Raw()


class _LargePodGroup(Wire):
    metadata: GroupMeta
    spec: _LargeSpec = field(default_factory=_LargeSpec)
    status: _LargeStatus = field(default_factory=_LargeStatus)


_WHOLE: Final = Decoder(PodGroup)
_LARGE: Final = Decoder(_LargePodGroup)
_TASKS: Final = Decoder(dict[str, int] | None)
_CONDITIONS: Final = Decoder(tuple[GroupStatusCondition, ...] | None)


class WrittenGroupMeta(GroupMeta):
    """Metadata of a pod group that is being written."""

    owner_references: tuple[Owner, ...] | None = None


class WrittenPodGroup(PodGroup):
    """A pod group that is being written: with what counts only then."""

    metadata: WrittenGroupMeta
