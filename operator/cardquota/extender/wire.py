"""What kube-scheduler sends and gets: kubescheduler.config.k8s.io/v1, as Go writes it.

Keys are the names of Go's fields. Of a pod its own keys are read, of a node its name: the rest of
the node is handed back as it came.

Errors: WireError for whatever cannot be read; the text says what is wrong.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from ..quota.limits import BODY
from ..quota.objects.pod import Pod
from ..quota.words import show
from .node_filter import NodeFit
from .node_ranking import NodeScore

T = TypeVar("T")
MOST_NODES: Final = 50_000
"""Names, or nodes, of one call: ten times those of the largest clusters."""
MOST_ELEMENTS: Final = 350_000
"""Fields and list elements of a call, by their commas: those of 700 whole nodes. Each may take 0.1
microseconds."""
MOST_FIELDS: Final = 40_000
"""The same of a call with victims: each may take a microsecond."""


class WireError(ValueError):
    """A call that cannot be read."""


class ExtenderArgs(NamedTuple):
    """A call of filter or prioritize."""

    pod: Pod
    names: Sequence[str]
    """Nodes, each once."""
    nodes: Mapping[str, Raw] | None = None
    """The nodes themselves, if the scheduler sends them. Then it wants them back."""


class BindArgs(NamedTuple):
    """A call of bind."""

    pod_name: str
    pod_namespace: str
    pod_uid: str
    node: str


class MetaVictims(NamedTuple):
    """Pods to be ended on one node."""

    uids: Sequence[str]
    violations: int = 0
    """PodDisruptionBudgets that would be broken."""


class PreemptionArgs(NamedTuple):
    """A call of preempt: the victims that kube-scheduler proposes, by node."""

    pod: Pod
    victims: Mapping[str, MetaVictims]


class _Named(msgspec.Struct):
    name: str = ""


class _Item(msgspec.Struct):
    metadata: _Named


class _NodeList(msgspec.Struct):
    items: list[Raw] | None = None


class _OfPod(msgspec.Struct):
    """A call about a pod. null is absent."""

    Pod: Raw = Raw(b"null")


class _OfNodes(_OfPod):
    Nodes: _NodeList | None = None
    NodeNames: list[str] | None = None


class _UidMeta(msgspec.Struct):
    uid: str = ""


class _Victim(msgspec.Struct):
    """Its uid alone, or the whole pod."""

    UID: str = ""
    metadata: _UidMeta = msgspec.field(default_factory=_UidMeta)


class _Victims(msgspec.Struct):
    Pods: list[_Victim] | None = None
    NumPDBViolations: int = 0


class _OfVictims(_OfPod):
    NodeNameToVictims: dict[str, _Victims] | None = None
    NodeNameToMetaVictims: dict[str, _Victims] | None = None


class _Binding(msgspec.Struct):
    PodName: str = ""
    PodNamespace: str = ""
    PodUID: str = ""
    Node: str = ""


class _Answer(msgspec.Struct):
    Error: str = ""


_OF_NODES: Final = msgspec.json.Decoder(_OfNodes)
_ITEM: Final = msgspec.json.Decoder(_Item)
_OF_VICTIMS: Final = msgspec.json.Decoder(_OfVictims)
_BINDING: Final = msgspec.json.Decoder(_Binding)
_ANSWER: Final = msgspec.json.Decoder(_Answer)
_ENCODER: Final = msgspec.json.Encoder()


def read_args(body: bytes) -> ExtenderArgs:
    """A call of filter or prioritize. Raises WireError."""
    call = _decoded(_OF_NODES, body, most=MOST_ELEMENTS)
    pod, names = _pod(call.Pod), call.NodeNames
    if names is None and call.Nodes is None:
        raise WireError("the call names no nodes: neither NodeNames nor Nodes is there")
    items = (call.Nodes.items if call.Nodes is not None else None) or []
    if len(items if names is None else names) > MOST_NODES:
        raise WireError(f"the call has more than {MOST_NODES} nodes")
    if names is not None:
        return ExtenderArgs(pod, list(dict.fromkeys(names)))
    found = {_decoded(_ITEM, item, most=MOST_ELEMENTS).metadata.name: item for item in items}
    return ExtenderArgs(pod, list(found), found)


def read_binding(body: bytes) -> BindArgs:
    """A call of bind. Raises WireError."""
    found = BindArgs(*msgspec.structs.astuple(_decoded(_BINDING, body, most=MOST_FIELDS)))
    if not all(found):
        raise WireError("one of PodName, PodNamespace, PodUID and Node is missing")
    return found


def read_preemption(body: bytes) -> PreemptionArgs:
    """A call of preempt, with whole pods or with their uids. Raises WireError."""
    call = _decoded(_OF_VICTIMS, body, most=MOST_FIELDS)
    proposed = call.NodeNameToMetaVictims or call.NodeNameToVictims or {}
    found = {
        node: MetaVictims(
            [pod.UID or pod.metadata.uid for pod in one.Pods or ()], one.NumPDBViolations
        )
        for node, one in proposed.items()
    }
    return PreemptionArgs(_pod(call.Pod), found)


def filter_answer(args: ExtenderArgs, result: NodeFit) -> bytes:
    """The answer of filter; nodes go back the way they came."""
    answer: dict[str, object] = {
        "FailedNodes": result.failed,
        "FailedAndUnresolvableNodes": result.unresolvable,
        "Error": result.error,
    }
    if args.nodes is not None:
        items = [args.nodes[name] for name in result.names]
        answer["Nodes"] = {"apiVersion": "v1", "kind": "NodeList", "items": items}
    else:
        answer["NodeNames"] = result.names
    return _ENCODER.encode(answer)


def scores_answer(scores: Sequence[NodeScore]) -> bytes:
    """The answer of prioritize."""
    return _ENCODER.encode(scores)


def error_answer(error: str) -> bytes:
    """The answer of bind; of any other verb that fails, too. Empty: it has worked."""
    return _ENCODER.encode({"Error": error})


def victims_answer(victims: Mapping[str, MetaVictims]) -> bytes:
    """The answer of preempt."""
    found = {
        node: {
            "Pods": [{"UID": uid} for uid in one.uids],
            "NumPDBViolations": one.violations,
        }
        for node, one in victims.items()
    }
    return _ENCODER.encode({"NodeNameToMetaVictims": found})


def bind_call(args: BindArgs) -> bytes:
    """The body of a call of bind: the inverse of `read_binding`."""
    return _ENCODER.encode(
        {
            "PodName": args.pod_name,
            "PodNamespace": args.pod_namespace,
            "PodUID": args.pod_uid,
            "Node": args.node,
        }
    )


def read_error(body: bytes) -> str:
    """The `Error` of an answer. Raises WireError."""
    return _decoded(_ANSWER, body, most=MOST_FIELDS).Error


def _decoded(decoder: "msgspec.json.Decoder[T]", body: bytes | Raw, *, most: int) -> T:
    """`most`: fields and elements, beyond which it is not read."""
    if len(body) > most and bytes(body).count(b",") > most:
        raise WireError(f"it has more than {most} fields and elements")
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(show(str(error))) from None


def _pod(raw: Raw) -> Pod:
    # Less than a pod may have that is stored: where such a pod may run is not known (P8).
    if len(raw) > BODY.most:
        raise WireError(f"the pod: more than {BODY.most} bytes")
    try:
        pod = Pod.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise WireError(f"pod: {show(str(error))}") from None
    if not pod.metadata.uid:
        raise WireError("the pod has no uid")
    try:
        int(pod.metadata.resource_version or 0)
    except ValueError:
        revision = show(pod.metadata.resource_version)
        raise WireError(f"the pod's resourceVersion <{revision}> is not a number") from None
    return pod
