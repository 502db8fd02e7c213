"""What is read of a workload: its pod template, and how many pods it wants at once."""

from typing import Final

import msgspec

from cardquota.quota.objects.wire import Wire
from cardquota.quota.objects.workload import PodTemplate


class JobTemplate(Wire):
    """The template of a CronJob's Jobs."""

    spec: "Spec" = msgspec.field(default_factory=lambda: Spec())


class Spec(Wire):
    """The specification of any kind; each kind has some of these fields."""

    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool | None = None
    active_deadline_seconds: int | None = None
    template: PodTemplate = msgspec.field(default_factory=PodTemplate)
    job_template: JobTemplate | None = None

    @property
    def of_pods(self) -> "Spec":
        """The part with the pod template: for a CronJob, the specification of its Jobs."""
        return self.job_template.spec if self.job_template else self


class Status(Wire):
    """Its progress, as its controller reports it. The ledger counts its pods."""

    succeeded: int = 0


class ReviewedMeta(Wire):
    """Metadata of a workload under review."""

    name: str = ""
    uid: str = ""


class ReviewedWorkload(Wire):
    """A workload as it would be stored. Its status is read from the stored one."""

    metadata: ReviewedMeta
    spec: Spec = msgspec.field(default_factory=Spec)


_COMPARED: Final = 256 * 1024
"""Bytes of a template that is parsed for comparison. Longer ones are compared as text."""


class RawSpec(Wire):
    """The template as it was written, to be compared as a whole."""

    template: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))


class StoredWorkload(Wire):
    """The stored workload before a change."""

    spec: RawSpec = msgspec.field(default_factory=RawSpec)
    status: Status = msgspec.field(default_factory=Status)

    def differs_from(self, other: "StoredWorkload | None") -> bool:
        """Whether the two have different pods; a different label is enough."""
        ours, theirs = self.spec.template, other.spec.template if other is not None else b"null"
        if bytes(ours) == bytes(theirs):
            return False
        if max(len(ours), len(theirs)) > _COMPARED:
            return True
        return bool(msgspec.json.decode(ours) != msgspec.json.decode(theirs))


def pods_of_job(spec: Spec, succeeded: int) -> int:
    """How many pods a Job runs at once now; `succeeded` of its completions are done."""
    if spec.suspend:
        return 0
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return parallelism
    return min(parallelism, max(0, spec.completions - succeeded))
