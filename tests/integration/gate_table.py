"""Which pods are born with the gate: one table, whoever sets it, whether or not we are there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from builders import a_namespace, a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually

from .asking import ask
from .roomy_nodes import T1000
from .team import Team, gates

QUEUE: Final = "QUEUE"
"""Stands in the table for the name of a queue."""
FOREIGN: Final = "example.com/theirs"
REFUSED: Final = "refused"
MIRROR: Final = "kubernetes.io/config.mirror"
_NODE: Final = "system:node:roomy-0"
_RESTRICTED: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
_CONTAINED: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""What our own namespace demands of pods."""


class GateNamespace(StrEnum):
    """A namespace, by what is said of it."""

    PLAIN = "plain"
    WITH_QUEUE = "with-queue"
    AUDITED = "audited"
    OFF = "off"
    KUBE_SYSTEM = "kube-system"
    OURS = v.OPERATOR_NAMESPACE


@dataclass(frozen=True)
class GateCase:
    """A pod that is created, and the gates it has then."""

    what: str
    pod: PodBody
    gates: tuple[str, ...] | str = ()
    where: GateNamespace = GateNamespace.PLAIN
    as_node: bool = False
    """Whether a kubelet creates it."""


def _pod(cards: int = 1) -> PodBody:
    pod = a_pod("p")
    return pod.asking_for(cards) if cards else pod


def _mine(cards: int = 1) -> PodBody:
    return _pod(cards).in_queue(QUEUE)


def _of_a_daemon_set() -> PodBody:
    """Its controller pins it by the node's name, not by `spec.nodeName`."""
    name = {"key": "metadata.name", "operator": "In", "values": ["roomy-0"]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [name]}]
            }
        }
    }
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d"}
    owned = _mine().put([{**owner, "controller": True}], "metadata", "ownerReferences")
    return owned.with_spec(affinity=affinity)


def _mirror() -> PodBody:
    return _mine().annotated(MIRROR, "x").with_spec(nodeName="roomy-0")


def _in_init() -> PodBody:
    limits = {"nvidia.com/gpu": "1"}
    init = [{"name": "i", "image": "i", "resources": {"limits": limits}}]
    return _pod(0).with_spec(initContainers=init)


def _theirs(pod: PodBody) -> PodBody:
    return pod.put([{"name": FOREIGN}], "spec", "schedulingGates")


_GATED: Final = (v.GATE,)
TABLE: Final = (
    GateCase("in a queue", _mine(), _GATED),
    GateCase(
        "in a queue by Volcano's key", _pod().annotated(v.QUEUE_NAME_VOLCANO_JOB, QUEUE), _GATED
    ),
    GateCase("in a group", _pod().in_group("nobody-knows-it"), _GATED),
    GateCase("in a queue, without a card", _mine(0), _GATED),
    GateCase("in a queue, beside another gate", _theirs(_mine()), (FOREIGN, v.GATE)),
    GateCase("in a queue, with the gate already", _mine().gated(), _GATED),
    GateCase("of a DaemonSet", _of_a_daemon_set(), _GATED),
    GateCase("a false mirror pod", _mirror(), REFUSED),
    GateCase("names its node", _mine().with_spec(nodeName="roomy-0"), REFUSED),
    GateCase("names its node, without a queue", _pod().with_spec(nodeName="roomy-0")),
    GateCase("a mirror pod", _mirror(), as_node=True),
    GateCase("nothing to do with cards", _pod(0)),
    GateCase("a card without a queue", _pod()),
    GateCase("a card and an empty queue", _pod().in_queue("")),
    GateCase("the gate without a queue", _pod().gated()),
    GateCase("the gate and another without a queue", _pod().gated(FOREIGN), (FOREIGN,)),
    GateCase("a card", _pod(), _GATED, GateNamespace.WITH_QUEUE),
    GateCase("a card and the gate", _pod().gated(), _GATED, GateNamespace.WITH_QUEUE),
    GateCase("a card of an init container", _in_init(), _GATED, GateNamespace.WITH_QUEUE),
    GateCase("no card", _pod(0), (), GateNamespace.WITH_QUEUE),
    GateCase("no card, and the gate", _pod(0).gated(), (), GateNamespace.WITH_QUEUE),
    GateCase("none of a card", _pod().asking_for("0"), (), GateNamespace.WITH_QUEUE),
    GateCase("in a queue, audited", _mine(), (), GateNamespace.AUDITED),
    GateCase(
        "in a queue, with the gate, audited",
        _mine().gated(FOREIGN),
        (FOREIGN,),
        GateNamespace.AUDITED,
    ),
    GateCase("in a queue, off", _mine(), (), GateNamespace.OFF),
    GateCase("in a queue of kube-system", _mine(), (), GateNamespace.KUBE_SYSTEM),
    GateCase("in a queue of our own namespace", _mine(), (), GateNamespace.OURS),
)  # fmt: skip


def born(
    cluster: Cluster, case: GateCase, queue: str, namespaces: Mapping[GateNamespace, str]
) -> object:
    """The gates of the pod, as a dry run shows them; or, of what is refused, the text."""
    namespace = namespaces.get(case.where, str(case.where))
    team = Team(cluster, namespace, "")
    body = team.wire(case.pod)
    notes = body["metadata"].get("annotations", {})
    body["metadata"]["annotations"] = {k: queue if x == QUEUE else x for k, x in notes.items()}
    body["spec"] |= {"automountServiceAccountToken": False, "securityContext": _RESTRICTED}
    for container in body["spec"]["containers"]:
        container["securityContext"] = _CONTAINED
    reply = ask(
        cluster,
        "POST",
        f"/api/v1/namespaces/{namespace}/pods?dryRun=All",
        body,
        as_user=_NODE if case.as_node else "",
        as_groups=("system:masters",) if case.as_node else (),
    )
    if case.gates == REFUSED and reply.code == HTTPStatus.FORBIDDEN:
        return REFUSED
    return tuple(gates(reply.body)) if reply.ok else reply.message


@contextmanager
def namespaces(cluster: Cluster, prefix: str, queue: str) -> Iterator[dict[GateNamespace, str]]:
    """Namespaces for the table, usable and seen by the API server."""
    found = {where: f"{prefix}-{where}" for where in list(GateNamespace)[:4]}
    marked = {
        GateNamespace.PLAIN: a_namespace(),
        GateNamespace.WITH_QUEUE: a_namespace().with_default_queue(queue),
        GateNamespace.AUDITED: a_namespace().in_mode(v.NAMESPACE_AUDIT),
        GateNamespace.OFF: a_namespace().in_mode(v.NAMESPACE_OFF),
    }
    for where, name in found.items():
        meta = {**marked[where].body["metadata"], "name": name}
        kept = {key: meta[key] for key in ("name", "labels", "annotations") if key in meta}
        assert ask(cluster, "POST", "/api/v1/namespaces", {"metadata": kept}).ok
    try:
        for name in (*found.values(), str(GateNamespace.OURS)):
            path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            eventually(lambda p=path: ask(cluster, "GET", p).ok, f"service account in {name}")
        yield found
    finally:
        for name in found.values():
            ask(cluster, "DELETE", f"/api/v1/namespaces/{name}")


PLENTY: Final = {T1000: 1000}
"""A quota that is never in the way."""
