"""What kube-scheduler sends and gets: kubescheduler.config.k8s.io/v1, as Go writes it.

Keys are the names of Go's fields. Of a pod its own keys are read, of a node its name: the rest of
it is handed back as it came.

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
_NULL: Final = b"null"
MOST_NODES: Final = 50_000
"""Names, or nodes, of one call: ten times those of the largest clusters."""
MOST_ELEMENTS: Final = 350_000
"""Fields and list elements of whole nodes, by their commas: 700 nodes. Each may take 0.1
microseconds."""
MOST_FIELDS: Final = 40_000
"""The same of victims: each may take a microsecond."""
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class WireError(ValueError):
    """A call, or an answer, that cannot be read. The text says what is wrong."""


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


class _UidMeta(msgspec.Struct):
    uid: str = ""


class _WholePod(msgspec.Struct):
    metadata: _UidMeta


class _MetaPod(msgspec.Struct):
    UID: str = ""


class _WholeVictims(msgspec.Struct):
    Pods: list[_WholePod] | None = None
    NumPDBViolations: int = 0


class _MetaVictims(msgspec.Struct):
    Pods: list[_MetaPod] | None = None
    NumPDBViolations: int = 0


_ABSENT: Final = Raw(_NULL)


class _Call(msgspec.Struct):
    """A call about nodes."""

    Pod: Raw = _ABSENT
    Nodes: Raw = _ABSENT
    NodeNames: Raw = _ABSENT
    NodeNameToVictims: Raw = _ABSENT
    NodeNameToMetaVictims: Raw = _ABSENT


class _Binding(msgspec.Struct):
    PodName: str | None = None
    PodNamespace: str | None = None
    PodUID: str | None = None
    Node: str | None = None


class _Failure(msgspec.Struct):
    Error: str = ""


class _NodeList(msgspec.Struct):
    items: list[Raw] | None = None


_CALL: Final = msgspec.json.Decoder(_Call)
_BINDING: Final = msgspec.json.Decoder(_Binding)
_FAILURE: Final = msgspec.json.Decoder(_Failure)
_LIST: Final = msgspec.json.Decoder(_NodeList)
_NAMES: Final = msgspec.json.Decoder(list[str])
_ITEM: Final = msgspec.json.Decoder(_Item)
_WHOLE: Final = msgspec.json.Decoder(dict[str, _WholeVictims | None])
_META: Final = msgspec.json.Decoder(dict[str, _MetaVictims | None])
_ENCODER: Final = msgspec.json.Encoder()


def read_args(body: bytes) -> ExtenderArgs:
    """A call of filter or prioritize. Raises WireError."""
    call = _read(body, _CALL, "it is no JSON object")
    pod = _pod(call.Pod)
    _bound(call.NodeNames, MOST_NODES, "NodeNames")
    names = _decoded(call.NodeNames, _NAMES, "NodeNames")
    if names is not None:
        repeated = len(set(names)) < len(names)
        return ExtenderArgs(pod, list(dict.fromkeys(names)) if repeated else names)
    _bound(call.Nodes, MOST_ELEMENTS, "Nodes (set nodeCacheCapable: true)")
    nodes = _decoded(call.Nodes, _LIST, "Nodes")
    if nodes is None:
        raise WireError("the call names no nodes: neither NodeNames nor Nodes is there")
    items = nodes.items or []
    if len(items) > MOST_NODES:
        raise WireError(f"Nodes has more than {MOST_NODES} items")
    found = {_read(item, _ITEM, "Nodes").metadata.name: item for item in items}
    return ExtenderArgs(pod, list(found), found)


def read_binding(body: bytes) -> BindArgs:
    """A call of bind. Raises WireError."""
    call = _read(body, _BINDING, "it is no JSON object")
    values = []
    for key in _Binding.__struct_fields__:
        text = getattr(call, key)
        if not text:
            raise WireError(f"{key} is missing")
        values.append(text)
    return BindArgs(*values)


def read_preemption(body: bytes) -> PreemptionArgs:
    """A call of preempt, with whole pods or with their uids. Raises WireError."""
    call = _read(body, _CALL, "it is no JSON object")
    pod = _pod(call.Pod)
    for raw in (call.NodeNameToMetaVictims, call.NodeNameToVictims):
        _bound(raw, MOST_FIELDS, "the victims")
    found: dict[str, MetaVictims] = {}
    by_uid = _decoded(call.NodeNameToMetaVictims, _META, "NodeNameToMetaVictims")
    for node, meta in (by_uid or {}).items():
        one = meta or _MetaVictims()
        found[node] = MetaVictims([pod.UID for pod in one.Pods or ()], one.NumPDBViolations)
    if by_uid:
        return PreemptionArgs(pod, found)
    by_pod = _decoded(call.NodeNameToVictims, _WHOLE, "NodeNameToVictims")
    for node, whole in (by_pod or {}).items():
        all_of = whole or _WholeVictims()
        uids = [pod.metadata.uid for pod in all_of.Pods or ()]
        found[node] = MetaVictims(uids, all_of.NumPDBViolations)
    return PreemptionArgs(pod, found)


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
    return _read(body, _FAILURE, "it is no JSON object").Error


def _bound(raw: Raw, most: int, what: str) -> None:
    """Raise WireError if there are more fields and elements, by their commas, than are read."""
    if len(raw) > most and bytes(raw).count(b",") > most:
        raise WireError(f"{what}: more than {most} fields and elements")


def _is_null(raw: Raw) -> bool:
    return len(raw) == len(_NULL) and bytes(raw) == _NULL


def _read(body: bytes | Raw, decoder: "msgspec.json.Decoder[T]", what: str) -> T:
    try:
        return decoder.decode(body)
    except _UNREADABLE as error:
        raise WireError(f"{what}: {show(str(error))}") from None


def _decoded(raw: Raw, decoder: "msgspec.json.Decoder[T]", what: str) -> T | None:
    return None if _is_null(raw) else _read(raw, decoder, what)


def _pod(raw: Raw) -> Pod:
    if _is_null(raw):
        raise WireError("the call has no pod")
    # Less than a pod may have that is stored: where such a pod may run is not known (P8).
    if len(raw) > BODY.most:
        raise WireError(f"the pod: more than {BODY.most} bytes")
    try:
        pod = Pod.decode(raw)
    except (*_UNREADABLE, ValueError) as error:
        raise WireError(f"pod: {show(str(error))}") from None
    if not pod.metadata.uid:
        raise WireError("the pod has no uid")
    try:
        int(pod.metadata.resource_version or 0)
    except ValueError:
        revision = show(pod.metadata.resource_version)
        raise WireError(f"the pod's resourceVersion <{revision}> is not a number") from None
    return pod
