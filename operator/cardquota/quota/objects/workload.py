"""Workloads: objects that make pods from a template, as many as they are told to.

Read as far as it says how many pods are wanted, how many exist, and what each asks for.
"""

from typing import Any, Final

from msgspec import Raw, field
from msgspec.json import Decoder

from ..limits import BODY
from .meta import Meta, Owner, Wire
from .pod import PodMeta, PodSpec
from .pod_group import GroupAnnotations


class PodTemplate(Wire):
    """A pod template. The API server writes no defaults into it, only into its pods."""

    metadata: PodMeta = field(default_factory=PodMeta)
    spec: PodSpec = field(default_factory=PodSpec)


class WorkloadAnnotations(Wire):
    """The annotations of a workload that mean something to us."""

    desired: str | None = field(default=None, name="deployment.kubernetes.io/desired-replicas")
    """Of a ReplicaSet: how many pods its Deployment wanted when it last told it how many."""


class WorkloadMeta(Meta):
    """Metadata of a workload."""

    annotations: WorkloadAnnotations | None = None
    owner_references: tuple[Owner, ...] | None = ()


class WorkloadSpec(Wire):
    """Specification of any kind; each kind has some of these fields."""

    replicas: int | None = None
    pod_management_policy: str = ""
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool | None = None
    template: PodTemplate = field(default_factory=PodTemplate)


class _WorkloadCondition(Wire):
    type: str = ""
    status: str = ""
    message: str = ""


class WorkloadStatus(Wire):
    """What its controller has found; each kind has some of these fields."""

    replicas: int = 0
    available_replicas: int = 0
    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0
    active: int = 0
    succeeded: int = 0
    terminating: int | None = None
    completion_time: str | None = None
    conditions: tuple[_WorkloadCondition, ...] | None = ()


class Workload(Wire):
    """A Deployment, StatefulSet, ReplicaSet, DaemonSet or Job."""

    metadata: WorkloadMeta
    spec: WorkloadSpec = field(default_factory=WorkloadSpec)
    status: WorkloadStatus = field(default_factory=WorkloadStatus)

    @staticmethod
    def decode(encoded: bytes | Raw) -> "Workload":
        """Decode a stored workload of any size. One that is too long becomes a `LargeWorkload`."""
        if len(encoded) <= BODY.most:
            return _WHOLE.decode(encoded)
        return LargeWorkload(metadata=_ONLY_META.decode(encoded).metadata)


class LargeWorkload(Workload):
    """A longer workload than is read. Only who it is is known."""


class _OnlyMeta(Wire):
    metadata: WorkloadMeta


_WHOLE: Final = Decoder(Workload)
_ONLY_META: Final = Decoder(_OnlyMeta)


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


class _WrittenJobSpec(Wire):
    tasks: tuple[WrittenTask, ...] | None = None
    queue: str | None = None
    min_available: int | None = None


class WrittenJobMeta(Meta):
    """Metadata of a Job. Its annotations are copied to its pod group when that is made."""

    annotations: GroupAnnotations | None = None


class WrittenVolcanoJob(Wire):
    """A Job that is being written."""

    metadata: WrittenJobMeta
    spec: _WrittenJobSpec = field(default_factory=_WrittenJobSpec)
