"""What is kept of a workload: how many pods it wants and has, and from which template.

The template is kept as the short JSON of what is read of it: objects would take five times as much
memory, and it is needed only when the workload is scaled or woken.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Final, NamedTuple

import msgspec

from ..kept_objects import SizedCache
from ..limits import TEMPLATE_TEXT, kept_name
from ..objects.meta import Owner
from ..objects.pod import Pod
from ..objects.workload import LargeWorkload, PodTemplate, Workload
from .pod_defaults import PodDefaults
from .pod_facts import PodFacts, pod_facts


def pod_of_template(
    template: PodTemplate,
    namespace: str,
    controller: str,
    defaults: PodDefaults | None = None,
    *,
    maker: str = "",
    api_version: str = "",
) -> PodFacts:
    """The pod with what the API server adds to it by `defaults`. Changes the template.

    `controller`: the kind of its controller; empty for none. `maker`: its name, and `api_version`,
    if known. Raises ValueError for a template that cannot be read.
    """
    meta, spec = template.metadata, template.spec
    meta.namespace = namespace
    meta.resource_version = ""  # meaningless in a template, so it may have any value
    meta.owner_references = (
        (Owner(api_version=api_version, kind=controller, name=maker, controller=True),)
        if controller
        else ()
    )
    return pod_facts(
        Pod(metadata=meta, spec=defaults.applied(spec, namespace) if defaults else spec)
    )


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(PodTemplate)
_SHARED: Final = SizedCache[bytes, bytes](4 * 1024 * 1024)
"""One text for equal templates: the Jobs of a CronJob differ in what is not read."""
_REPLICA_SET: Final = "ReplicaSet"
_JOB: Final = "Job"
_LONGEST_NUMBER: Final = 10
"""Digits of what Kubernetes writes."""
_REFUSED: Final = "ReplicaFailure"
"""Condition of a ReplicaSet whose last create of a pod failed."""
BY_US: Final = 'cardquota.volcano.sh" denied the request'
"""What the message of the condition has if one of our webhooks refused the pod."""


@dataclass(slots=True, kw_only=True)
class WorkloadFacts:
    """One workload."""

    kind: str
    """`Deployment`, `StatefulSet`, `ReplicaSet`, `DaemonSet` or `Job`."""
    namespace: str
    name: str
    uid: str
    created: str
    owner: str
    """Uid of its controller; empty if it has none."""
    owner_kind: str
    replicas: int
    """Pods that it wants."""
    desired: int
    """Of a Deployment's ReplicaSet: how many pods the Deployment wanted when it wrote `replicas`; 0
    if that is not known."""
    present: int
    """Pods that exist, as its controller has counted them."""
    refused: bool
    """Whether a pod that it lacks was refused by us, or may have been (`certain`)."""
    certain: bool
    """Whether its controller has reported that. Only a ReplicaSet's does; it keeps the first reason
    that there was."""
    template: bytes
    """JSON; empty if it is too large to be kept."""

    @property
    def missing(self) -> int:
        """How many pods it lacks."""
        return max(0, self.replicas - self.present)


def workload_facts(
    kind: str, found: Workload, defaults: PodDefaults | None = None
) -> WorkloadFacts | None:
    """Read a workload. None: its pods would not concern us, or nobody asks of it: a former
    ReplicaSet of a Deployment, a Job that is over, what is being deleted; or it is too large (P8).
    `defaults`: what the API server adds to its pods; a LimitRange alone may give them cards.

    Raises ValueError for a template that cannot be read.
    """
    if isinstance(found, LargeWorkload):
        return None
    meta, template, owner = found.metadata, found.spec.template, _controller(found)
    numbers = _NUMBERS[kind](found)
    former = owner is not None and owner.kind == "Deployment" and not numbers.wanted
    if (kind == _REPLICA_SET and former) or (kind == _JOB and not numbers.wanted):
        return None
    if meta.deletion_timestamp is not None:
        return None
    if not pod_of_template(template, meta.namespace, "", defaults).concerns_us:
        return None
    return WorkloadFacts(
        kind=intern(kind),
        namespace=intern(meta.namespace),
        name=meta.name,
        uid=meta.uid,
        created=meta.creation_timestamp or "",
        owner=owner.uid if owner is not None else "",
        owner_kind=intern(owner.kind) if owner is not None else "",
        replicas=numbers.wanted,
        desired=_desired(found),
        present=numbers.present,
        refused=numbers.refused,
        certain=numbers.certain,
        template=_kept(template),
    )


class _Numbers(NamedTuple):
    wanted: int
    present: int
    refused: bool
    certain: bool = False


def _of_deployment(found: Workload) -> _Numbers:
    # Its conditions repeat what its ReplicaSets say.
    return _Numbers(_replicas(found), found.status.replicas, refused=False)


def _of_replica_set(found: Workload) -> _Numbers:
    said = [
        one
        for one in found.status.conditions or ()
        if one.type == _REFUSED and one.status == "True"
    ]
    return _Numbers(
        _replicas(found),
        found.status.replicas,
        bool(said),
        certain=any(BY_US in one.message for one in said),
    )


def _of_stateful_set(found: Workload) -> _Numbers:
    """Its controller makes one pod after the other, unless told otherwise: while one is not
    available it waits for that one.
    """
    status = found.status
    parallel = found.spec.pod_management_policy == "Parallel"
    wanted, present = _replicas(found), status.replicas
    waits = not parallel and status.available_replicas < present
    return _Numbers(wanted, present, refused=present < wanted and not waits)


def _of_daemon_set(found: Workload) -> _Numbers:
    wanted, present = (
        found.status.desired_number_scheduled,
        found.status.current_number_scheduled,
    )
    return _Numbers(wanted, present, refused=present < wanted)


def _of_job(found: Workload) -> _Numbers:
    """None is wanted of one that is over."""
    spec, status = found.spec, found.status
    wanted = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is not None:
        wanted = min(wanted, max(0, spec.completions - status.succeeded))
    over = status.completion_time is not None or any(
        one.type == "Failed" and one.status == "True" for one in status.conditions or ()
    )
    if over or spec.suspend:
        wanted = 0
    present = status.active + (status.terminating or 0)
    return _Numbers(wanted, present, refused=present < wanted)


def _desired(found: Workload) -> int:
    notes = found.metadata.annotations
    text = (notes.desired if notes is not None else None) or ""
    short = len(text) <= _LONGEST_NUMBER and text.isascii() and text.isdecimal()
    return int(text) if short else 0


def _replicas(found: Workload) -> int:
    return 1 if found.spec.replicas is None else found.spec.replicas


_NUMBERS: Final[Mapping[str, Callable[[Workload], _Numbers]]] = {
    "Deployment": _of_deployment,
    _REPLICA_SET: _of_replica_set,
    "StatefulSet": _of_stateful_set,
    "DaemonSet": _of_daemon_set,
    _JOB: _of_job,
}
KINDS: Final = tuple(_NUMBERS)
"""The kinds that are watched."""


def template_of(facts: WorkloadFacts) -> PodTemplate | None:
    """Its pod template, a new one at each call. None if it is not known."""
    return _DECODER.decode(facts.template) if facts.template else None


def pod_of(
    facts: WorkloadFacts, controller: str, defaults: PodDefaults, *, maker: str = ""
) -> PodFacts | None:
    """The pod that the workload would make now, with what the API server adds to it.

    `controller`: the kind of its pods' controller, `maker` its name. None if the template is not
    known.
    """
    template = template_of(facts)
    if template is None:
        return None
    return pod_of_template(template, facts.namespace, controller, defaults, maker=maker)


def _kept(template: PodTemplate) -> bytes:
    template.spec.resource_claims = ()  # of cards or not: only the reviews of its pods read that
    text = _ENCODER.encode(template)
    if len(text) > TEMPLATE_TEXT.most:
        return b""
    found = _SHARED.get(text)
    return found if found is not None else _SHARED.put(text, text, len(text))


def _controller(found: Workload) -> Owner | None:
    for owner in found.metadata.owner_references or ():
        if owner.controller:
            return Owner(kind=kept_name(owner.kind), name=owner.name, uid=kept_name(owner.uid))
    return None
