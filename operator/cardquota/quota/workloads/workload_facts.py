"""What is kept of a workload: how many pods it wants and has, and from which template.

The template is kept as the short JSON of what is read of it: objects would take five times as much
memory, and it is needed only when the workload is scaled or woken.
"""

from dataclasses import dataclass
from sys import intern
from typing import Final

import msgspec

from ..limits import TEMPLATE_TEXT, kept_name
from ..objects.meta import Owner
from ..objects.workload import LargeWorkload, PodTemplate, Workload
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts
from ..sized_cache import SizedCache
from .template_pod import pod_of_template

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(PodTemplate)
_SHARED: Final = SizedCache[bytes, bytes](4 * 1024 * 1024)
"""One text for equal templates: the ReplicaSets of a Deployment differ in what is not read."""
_REPLICA_SET: Final = "ReplicaSet"
_REFUSED: Final = "ReplicaFailure"
"""Condition of a ReplicaSet whose last create of a pod failed."""
_BY_US: Final = 'cardquota.volcano.sh" denied the request'
"""What the message of the condition has if one of our webhooks refused the pod."""


@dataclass(slots=True, kw_only=True)
class WorkloadFacts:
    """One workload."""

    kind: str
    """`Deployment`, `StatefulSet` or `ReplicaSet`."""
    namespace: str
    name: str
    uid: str
    created: str
    owner: str
    """Uid of its controller; empty if it has none."""
    replicas: int
    """Pods that it wants."""
    present: int
    """Pods that exist, as its controller has counted them."""
    refused: bool
    """Of a ReplicaSet: whether a pod that it lacks was refused by us, as its controller reports."""
    template: bytes
    """JSON; empty if it is too large to be kept."""

    @property
    def missing(self) -> int:
        """How many pods it lacks."""
        return max(0, self.replicas - self.present)


def workload_facts(kind: str, found: Workload) -> WorkloadFacts | None:
    """Read a workload. None: its pods would not concern us, or it is a former ReplicaSet of a
    Deployment, of which nobody asks. What a namespace's LimitRange adds does not count here.

    Raises ValueError for a template that cannot be read.
    """
    meta, template, owner = found.metadata, found.spec.template, _controller(found)
    replicas = 1 if found.spec.replicas is None else found.spec.replicas
    if kind == _REPLICA_SET and not replicas and owner is not None and owner.kind == "Deployment":
        return None
    if isinstance(found, LargeWorkload):
        text = b""
    elif pod_of_template(template, meta.namespace, "").concerns_us:
        text = _kept(template)
    else:
        return None
    conditions = found.status.conditions or ()
    return WorkloadFacts(
        kind=intern(kind),
        namespace=intern(meta.namespace),
        name=meta.name,
        uid=meta.uid,
        created=meta.creation_timestamp or "",
        owner=owner.uid if owner is not None else "",
        replicas=replicas,
        present=found.status.replicas,
        # A Deployment repeats what its ReplicaSets say.
        refused=kind == _REPLICA_SET
        and any(
            one.type == _REFUSED and one.status == "True" and _BY_US in one.message
            for one in conditions
        ),
        template=text,
    )


def template_of(facts: WorkloadFacts) -> PodTemplate | None:
    """Its pod template, a new one at each call. None if it is not known."""
    return _DECODER.decode(facts.template) if facts.template else None


def pod_of(facts: WorkloadFacts, controller: str, defaults: PodDefaults) -> PodFacts | None:
    """The pod that the workload would make now, with what the API server adds to it.

    `controller`: the kind of its pods' controller. None if the template is not known.
    """
    template = template_of(facts)
    if template is None:
        return None
    return pod_of_template(template, facts.namespace, controller, defaults)


def _kept(template: PodTemplate) -> bytes:
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
