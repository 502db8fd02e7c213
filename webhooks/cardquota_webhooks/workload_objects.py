"""What is read of a workload: its pods' template, how many it wants at once, how many it has."""

import msgspec

from cardquota.quota.objects.pod import PodMeta, PodSpec
from cardquota.quota.objects.wire import Wire


class Template(Wire):
    """A pod template. The API server writes no defaults into it."""

    metadata: PodMeta = msgspec.field(default_factory=PodMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)


class JobTemplate(Wire):
    """What a CronJob makes its Jobs of."""

    spec: "Spec" = msgspec.field(default_factory=lambda: Spec())


class Spec(Wire):
    """The specification of any of them; each has some of these fields."""

    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool | None = None
    template: Template = msgspec.field(default_factory=Template)
    job_template: JobTemplate | None = None

    @property
    def of_pods(self) -> "Spec":
        """Where the template stands: of a CronJob, the specification of its Jobs."""
        return self.job_template.spec if self.job_template else self


class Status(Wire):
    """How far it has come, as its controller says."""

    replicas: int = 0
    ready_replicas: int = 0
    active: int | list[msgspec.Raw] = 0
    """Of a Job a number, of a CronJob its Jobs."""
    ready: int | None = 0
    succeeded: int = 0
    current_number_scheduled: int = 0
    number_ready: int = 0

    @property
    def pods(self) -> int:
        """Pods that it has, those that wait at the gate included."""
        active = self.active if isinstance(self.active, int) else 0
        return max(self.replicas, active, self.current_number_scheduled)

    @property
    def running(self) -> int:
        """Pods of which it is certain that they do not wait at the gate."""
        return max(self.ready_replicas, self.ready or 0, self.number_ready)


class WorkloadMeta(Wire):
    """Metadata of a workload."""

    name: str = ""


class Workload(Wire):
    """A workload as it would be stored. Its status is the stored one's affair."""

    metadata: WorkloadMeta
    spec: Spec = msgspec.field(default_factory=Spec)


class StoredWorkload(Wire):
    """A workload as it stands, when it is changed."""

    spec: Spec = msgspec.field(default_factory=Spec)
    status: Status = msgspec.field(default_factory=Status)


def pods_of_job(spec: Spec, succeeded: int) -> int:
    """How many pods a Job runs at once from now on; `succeeded` of its completions are done."""
    if spec.suspend:
        return 0
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return parallelism
    return min(parallelism, max(0, spec.completions - succeeded))
