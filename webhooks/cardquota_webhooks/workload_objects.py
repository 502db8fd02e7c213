"""What is read of a workload: its template, how many pods it wants, how it replaces them, and who
makes them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from cardquota.quota.objects.meta import Wire
from cardquota.quota.objects.workload import WorkloadSpec

_DEFAULT: Final = "25%"
_ROLLING: Final = "RollingUpdate"

Share = int | str
"""Pods, or a percentage of the wanted pods, such as `25%`."""


class RollingUpdate(Wire):
    """The parameters. If absent, the API server's defaults."""

    max_surge: Share | None = None
    max_unavailable: Share | None = None


class _Strategy(Wire):
    type: str | None = _ROLLING
    rolling_update: RollingUpdate | None = None


class _JobTemplate(Wire):
    spec: "Spec" = msgspec.field(default_factory=lambda: Spec())


class Spec(WorkloadSpec):
    """The specification of any kind; each kind has some of these fields."""

    active_deadline_seconds: int | None = None
    paused: bool | None = None
    strategy: _Strategy = msgspec.field(default_factory=_Strategy)
    job_template: _JobTemplate | None = None

    @property
    def of_pods(self) -> "Spec":
        """The part with the pod template: for a CronJob, the specification of its Jobs."""
        return self.job_template.spec if self.job_template else self


class Status(Wire):
    """Its progress, as its controller reports it. The ledger counts its pods."""

    succeeded: int = 0


class _ReviewedMeta(Wire):
    name: str = ""
    uid: str = ""


class ReviewedWorkload(Wire):
    """A workload as it would be stored. Its status is read from the stored one."""

    metadata: _ReviewedMeta
    spec: Spec = msgspec.field(default_factory=Spec)


_COMPARED: Final = 256 * 1024
"""Bytes of a template that is parsed for comparison. Longer ones are compared as text."""


class _RawSpec(Wire):
    template: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))


class StoredWorkload(Wire):
    """The stored workload before a change."""

    spec: _RawSpec = msgspec.field(default_factory=_RawSpec)
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


def may_be_gone(deployment: Spec, replicas: int) -> int | None:
    """How many of `replicas` pods may be missing while new ones start. None: no rolling update.

    Computed as its controller does: a percentage is rounded down, and if it and the surge are both
    0, the result is 1. Raises ValueError for what is neither a number nor a percentage.
    """
    if deployment.paused or (deployment.strategy.type or _ROLLING) != _ROLLING:
        return None
    shares = deployment.strategy.rolling_update or RollingUpdate()
    gone = _pods(shares.max_unavailable, replicas)
    if gone <= 0 and _pods(shares.max_surge, replicas, up=True) <= 0:
        return 1
    return gone


def _pods(share: Share | None, replicas: int, *, up: bool = False) -> int:
    if isinstance(share, int):
        return share
    hundredths = int((_DEFAULT if share is None else share).removesuffix("%")) * replicas
    return -(-hundredths // 100) if up else hundredths // 100


KINDS: Final = {
    "deployments": "ReplicaSet",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet",
    "jobs": "Job",
    "cronjobs": "Job",
}
"""By resource of the workload: the kind of its pods' controller."""

_HASH: Final = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{1,10}")
"""The suffix of a ReplicaSet after its Deployment's name: letters that spell no words."""


def is_made_by(resource: str, name: str, controller: str) -> bool:
    """Whether a controller of this name, of the kind in `KINDS`, is that workload's at present.

    A CronJob's next Job is never one of those that run. A ReplicaSet that a user named like a
    Deployment's counts as the Deployment's.
    """
    match resource:
        case "cronjobs":
            return False
        case "deployments":
            deployment, dash, end = controller.rpartition("-")
            return bool(dash) and deployment == name and _HASH.fullmatch(end) is not None
    return controller == name


Makers = Mapping[str, Callable[[str], bool]]
"""The controllers of a workload's pods: by kind, which names they have."""
