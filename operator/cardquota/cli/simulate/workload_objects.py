"""What is read of workloads. Their pods are the operator's own structs."""

from hashlib import sha256
from typing import Annotated, Final

from msgspec import Meta as Bounds
from msgspec import field

from ...quota.objects.meta import Meta, Wire
from ...quota.objects.pod import PodMeta, PodSpec
from ...quota.objects.pod_group import GroupMeta

MOST_PODS: Final = 100_000
Number = Annotated[int, Bounds(ge=0, le=MOST_PODS)]


class Template(Wire):
    """A pod template."""

    metadata: PodMeta = field(default_factory=PodMeta)
    spec: PodSpec = field(default_factory=PodSpec)


class ReplicatedSpec(Wire):
    """Specification of a Deployment, ReplicaSet, StatefulSet or DaemonSet."""

    template: Template
    replicas: Number | None = None


class Replicated(Wire):
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet."""

    metadata: Meta
    spec: ReplicatedSpec


class BatchSpec(Wire):
    """Specification of a Job of `batch/v1`."""

    template: Template
    parallelism: Number | None = None
    completions: Number | None = None
    completion_mode: str | None = None
    suspend: bool | None = None


class BatchJob(Wire):
    """A Job of `batch/v1`."""

    metadata: Meta
    spec: BatchSpec


class CronJob(Wire):
    """A CronJob. Only the name is read: it is not run."""

    metadata: Meta


class Task(Wire):
    """A task of a Volcano Job."""

    template: Template
    name: str = ""
    replicas: Number = 0
    min_available: Number | None = None


class VolcanoJobSpec(Wire):
    """Specification of a Volcano Job."""

    tasks: tuple[Task, ...] = ()
    queue: str | None = None
    min_available: Number | None = None
    priority_class_name: str | None = None


class VolcanoJob(Wire):
    """A Job of `batch.volcano.sh`. Its annotations go to its pod group."""

    metadata: GroupMeta
    spec: VolcanoJobSpec = field(default_factory=VolcanoJobSpec)


_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As in Kubernetes: no vowels, so no words."""


def generated(*parts: object, length: int = 5) -> str:
    """A few letters derived from `parts`."""
    digest = sha256("\0".join(map(str, parts)).encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])
