"""What kube-scheduler sends and gets: kubescheduler.config.k8s.io/v1, as Go writes it.

Keys are the names of Go's fields. Go reads them in any case, and of two alike takes the last; so do
we. Of a pod its own keys are read, of a node its name: the rest of it is handed back as it came.

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
"""The same of victims, and of calls in another spelling than Go's: each may take a microsecond."""


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


class _UidMeta(msgspec.Struct):
    uid: str = ""


class _WholePod(msgspec.Struct):
    metadata: _UidMeta


_ABSENT: Final = Raw(_NULL)


class _Call(msgspec.Struct):
    """A call in Go's spelling."""

    Pod: Raw = _ABSENT
    Nodes: Raw = _ABSENT
    NodeNames: Raw = _ABSENT
    NodeNameToVictims: Raw = _ABSENT
    NodeNameToMetaVictims: Raw = _ABSENT


class _NodeList(msgspec.Struct):
    items: list[Raw] | None = None


_CALL: Final = msgspec.json.Decoder(_Call)
_LIST: Final = msgspec.json.Decoder(_NodeList)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Raw])
_NAMES: Final = msgspec.json.Decoder(list[str])
_RAWS: Final = msgspec.json.Decoder(list[Raw])
_ITEM: Final = msgspec.json.Decoder(_Item)
_TEXT: Final = msgspec.json.Decoder(str)
_NUMBER: Final = msgspec.json.Decoder(int)
_WHOLE_POD: Final = msgspec.json.Decoder(_WholePod)
_ENCODER: Final = msgspec.json.Encoder()


def read_args(body: bytes) -> ExtenderArgs:
    """A call of filter or prioritize. Raises WireError."""
    fields = _call_fields(body)
    pod = _pod(fields)
    _bound(fields.get("nodenames"), MOST_NODES, "NodeNames")
    names = _decoded(fields, "nodenames", _NAMES)
    if names is not None:
        repeated = len(set(names)) < len(names)
        return ExtenderArgs(pod, list(dict.fromkeys(names)) if repeated else names)
    nodes = fields.get("nodes")
    if nodes is None:
        raise WireError("the call names no nodes: neither NodeNames nor Nodes is there")
    found: dict[str, Raw] = {}
    _bound(nodes, MOST_ELEMENTS, "Nodes (set nodeCacheCapable: true)")
    items = _items(nodes)
    if len(items) > MOST_NODES:
        raise WireError(f"Nodes has more than {MOST_NODES} items")
    for item in items:
        try:
            found[_ITEM.decode(item).metadata.name] = item
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise WireError(f"Nodes: {show(str(error))}") from None
    return ExtenderArgs(pod, list(found), found)


def read_binding(body: bytes) -> BindArgs:
    """A call of bind. Raises WireError."""
    _bound(body, MOST_FIELDS, "the call")
    fields = _fields(body)
    values = []
    for key in ("PodName", "PodNamespace", "PodUID", "Node"):
        text = _decoded(fields, key.lower(), _TEXT)
        if not text:
            raise WireError(f"{key} is missing")
        values.append(text)
    return BindArgs(*values)


def read_preemption(body: bytes) -> PreemptionArgs:
    """A call of preempt, with whole pods or with their uids. Raises WireError."""
    fields = _call_fields(body)
    pod = _pod(fields)
    for key in ("nodenametometavictims", "nodenametovictims"):
        _bound(fields.get(key), MOST_FIELDS, "the victims")
    by_uid = _decoded(fields, "nodenametometavictims", _OBJECT)
    whole = _decoded(fields, "nodenametovictims", _OBJECT)
    found: dict[str, MetaVictims] = {}
    for node, raw in (by_uid or whole or {}).items():
        if _is_null(raw):
            found[node] = MetaVictims(())
            continue
        victims = _fields(raw)
        uids = [_uid(one, whole=not by_uid) for one in _decoded(victims, "pods", _RAWS) or ()]
        violations = _decoded(victims, "numpdbviolations", _NUMBER) or 0
        found[node] = MetaVictims(uids, violations)
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
    return _decoded(_fields(body), "error", _TEXT) or ""


def _fields(body: bytes | Raw) -> dict[str, Raw]:
    """The fields of an object, with keys in lower case; null counts as absent."""
    try:
        found = _OBJECT.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"it is no JSON object: {show(str(error))}") from None
    return {key.lower(): raw for key, raw in found.items() if not _is_null(raw)}


def _call_fields(body: bytes) -> dict[str, Raw]:
    """The fields of a call with a pod. Go's spelling costs nothing for fields that nobody knows."""
    try:
        call = _CALL.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        call = _Call()
    found = {key.lower(): getattr(call, key) for key in _Call.__struct_fields__}
    fields = {key: raw for key, raw in found.items() if not _is_null(raw)}
    if "pod" in fields and len(fields) > 1:
        return fields
    _bound(body, MOST_FIELDS, "the call")
    return _fields(body)


def _items(nodes: Raw) -> list[Raw]:
    """The items of a NodeList. Of its other fields there may be few."""
    try:
        found = _LIST.decode(nodes).items
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = None
    if found is not None:
        return found
    _bound(nodes, MOST_FIELDS, "Nodes")
    return _decoded(_fields(nodes), "items", _RAWS) or []


def _bound(raw: bytes | Raw | None, most: int, what: str) -> None:
    """Raise WireError if there are more fields and elements, by their commas, than are read."""
    if raw is not None and len(raw) > most and bytes(raw).count(b",") > most:
        raise WireError(f"{what}: more than {most} fields and elements")


def _is_null(raw: Raw) -> bool:
    return len(raw) == len(_NULL) and bytes(raw) == _NULL


def _decoded(fields: Mapping[str, Raw], key: str, decoder: "msgspec.json.Decoder[T]") -> T | None:
    raw = fields.get(key)
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"{key}: {show(str(error))}") from None


def _pod(fields: Mapping[str, Raw]) -> Pod:
    raw = fields.get("pod")
    if raw is None:
        raise WireError("the call has no pod")
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


def _uid(raw: Raw, *, whole: bool) -> str:
    try:
        if whole:
            return _WHOLE_POD.decode(raw).metadata.uid
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"victims: {show(str(error))}") from None
    return _decoded(_fields(raw), "uid", _TEXT) or ""
