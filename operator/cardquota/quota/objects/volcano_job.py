"""Jobs of Volcano (`batch.volcano.sh`): tasks of pods that start together."""

from typing import Any

from msgspec import field

from .meta import Meta
from .pod_group import GroupAnnotations
from .wire import Wire
from .workload import PodTemplate


class WrittenTask(Wire):
    """A task of a Job that is being written."""

    name: str = ""
    replicas: int | None = None
    min_available: int | None = None
    partition_policy: Any = None
    """Members are scheduled by partition, which is not supported. Its content does not matter."""
    depends_on: Any = None
    """Tasks whose pods come first."""
    template: PodTemplate = field(default_factory=PodTemplate)


class WrittenJobSpec(Wire):
    """Specification of a Job that is being written."""

    tasks: tuple[WrittenTask, ...] | None = None
    queue: str | None = None
    min_available: int | None = None


class WrittenJobMeta(Meta):
    """Metadata of a Job. Its annotations are copied to its pod group when that is made."""

    annotations: GroupAnnotations | None = None


class WrittenVolcanoJob(Wire):
    """A Job that is being written."""

    metadata: WrittenJobMeta
    spec: WrittenJobSpec = field(default_factory=WrittenJobSpec)
