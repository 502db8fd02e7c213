"""AdmissionReview on the wire: what is read of a request, the annotations of what is written, and
the answer.

The answer is never an HTTP 500 and never empty: an unreadable request gets a 4xx or a refusal that
says what is wrong.

Keys of ours that come with an object are from a backup, or are left out of what replaces one (I3).
Nobody need know of them to restore or replace one, so they are put right instead of refused. What
is forged after our review is refused by the policies.

Keys that mean nothing get a Warning, but in no object of more than 256 KiB, which is what
Kubernetes allows for annotations. To read the keys of a smaller one takes some microseconds, and
some milliseconds if it has nothing else. They are read apart from the object: of the others only
the known ones are kept.
"""

import base64
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import BODY, JOB_TASKS, KIB
from cardquota.quota.messages import queue_write_messages, request_messages, shortfall_messages
from cardquota.quota.objects.meta import Wire
from cardquota.quota.objects.pod import PodAnnotations, PodMeta
from cardquota.quota.own_keys import KeysOfKind
from cardquota.quota.vocabulary import NAMESPACE_ENFORCED, Mode, Reason
from cardquota.settings import Settings

T = TypeVar("T")
API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"


_ENCODER = msgspec.json.Encoder()
_NULL = msgspec.Raw(b"null")
LONGEST_UID = 256
"""Characters. The uid is returned as it came; the API server's have 36."""


class ReviewError(Exception):
    """The body is not an AdmissionReview that can be answered."""


UNREADABLE: Final = (msgspec.DecodeError, ValueError, RecursionError)
"""What decoding of an object raises, and making facts of it."""


def decoded(decoder: msgspec.json.Decoder[T], encoded: msgspec.Raw, what: str) -> T:
    """An object of a review. Raises ReviewError. `what`: what it is if not this, as `not a pod`."""
    try:
        return decoder.decode(encoded)
    except UNREADABLE as error:
        raise ReviewError(f"the request's object is {what}: {error}") from None


class GroupResource(msgspec.Struct):
    """The resource that the request is about."""

    group: str = ""
    version: str = ""
    resource: str = ""


class _UserInfo(msgspec.Struct):
    username: str = ""


class Request(msgspec.Struct, rename="camel"):
    """An admission request. The objects stay encoded until they are needed."""

    uid: str
    resource: GroupResource
    operation: str
    name: str = ""
    namespace: str = ""
    sub_resource: str = ""
    user_info: _UserInfo = msgspec.field(default_factory=_UserInfo)
    object: msgspec.Raw = _NULL
    old_object: msgspec.Raw = _NULL
    dry_run: bool | None = None

    @property
    def what(self) -> str:
        """The resource with its subresource, as rules name them: `pods`, `pods/resize`."""
        name = self.resource.resource
        return f"{name}/{self.sub_resource}" if self.sub_resource else name

    def drop_objects(self) -> None:
        """All that is needed of the objects was read: nothing of the body is kept any longer."""
        self.object = self.old_object = _NULL


class _Review(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: Request | None = None


class AdmissionResponse(NamedTuple):
    """Allowed, maybe with a patch and warnings; or denied with a reason and a text."""

    allowed: bool = True
    patch: str = ""
    """As `json_patch` encodes it."""
    warnings: tuple[str, ...] = ()
    gated: bool = False
    """Whether a pod waits at its gate, which it has, or gets by the patch."""
    code: int = HTTPStatus.FORBIDDEN
    reason: str = "Forbidden"
    text: str = ""
    retry_after: int = 0
    """Seconds after which the client should retry by itself."""


Review = Callable[[Request], Awaitable[AdmissionResponse]]
Routes = Mapping[tuple[str, str, str], Review]
"""What answers a review: by path, API group, and resource with its subresource."""
SCALE: Final = "scale"
"""The subresource of how many replicas there shall be."""
ANY: Final = "*"
"""In place of an API group: for whatever has this subresource."""


class Reviewer(Protocol):
    """Answers reviews of one kind of object."""

    @property
    def routes(self) -> Routes:
        """Which reviews it answers."""


def json_patch(*operations: Mapping[str, object]) -> str:
    """A JSON patch as an answer contains it."""
    return base64.b64encode(_ENCODER.encode(operations)).decode()


def deny(
    text: str, *, reason: str = "Forbidden", code: int = HTTPStatus.FORBIDDEN
) -> AdmissionResponse:
    """A refusal."""
    return AdmissionResponse(allowed=False, text=text, reason=reason, code=code)


def try_again(text: str) -> AdmissionResponse:
    """No answer for now; clients retry by themselves."""
    return AdmissionResponse(
        allowed=False,
        text=text,
        reason="TooManyRequests",
        code=HTTPStatus.TOO_MANY_REQUESTS,
        retry_after=1,
    )


_DECODER = msgspec.json.Decoder(_Review)


def decode(body: bytes) -> Request:
    """The request of a review. Raises ReviewError, which says what is wrong with the body."""
    try:
        review = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReviewError(f"the body is not an {KIND}: {error}") from None
    if review.kind != KIND or review.api_version != API_VERSION:
        raise ReviewError(f"the body is no {KIND} of {API_VERSION}")
    if review.request is None or not 0 < len(review.request.uid) <= LONGEST_UID:
        raise ReviewError(f"the {KIND} has no request with a uid of 1 to {LONGEST_UID} characters")
    return review.request


def encode(uid: str, answer: AdmissionResponse) -> bytes:
    """The review that answers the request with this uid."""
    response: dict[str, Any] = {"uid": uid, "allowed": answer.allowed}
    if answer.warnings:
        response["warnings"] = answer.warnings
    if not answer.allowed:
        status: dict[str, Any] = {
            "status": "Failure",
            "code": int(answer.code),
            "reason": answer.reason,
            "message": answer.text,
        }
        if answer.retry_after:
            status["details"] = {"retryAfterSeconds": answer.retry_after}
        response["status"] = status
    elif answer.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = answer.patch
    return _ENCODER.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


class _OnlyMetadata(Wire):
    metadata: PodMeta


_METADATA: Final = msgspec.json.Decoder(_OnlyMetadata)


def answer_to_large(request: Request, ledger: LedgerReader) -> AdmissionResponse | None:
    """The answer to a review of an object that is too large; None if it is not.

    Refused where rules are enforced; a warning in audit mode.
    """
    text = too_large(request)
    if not text:
        return None
    mode = ledger.mode_in(request.namespace)
    if mode is Mode.ENFORCE:
        return deny(text, reason=Reason.INVALID_CARD)
    if mode is Mode.AUDIT:
        return AdmissionResponse(warnings=(shortfall_messages.audited(text),))
    return AdmissionResponse()


def answer_to_large_pod(
    request: Request, ledger: LedgerReader, settings: Settings
) -> AdmissionResponse | None:
    """The same of a pod that is being created. It is refused only where it would have a queue, or
    where no pod that uses cards may be without one: all others are none of ours, however large.
    """
    answer = answer_to_large(request, ledger)
    if answer is None or _may_be_managed(request, ledger, settings):
        return answer
    return AdmissionResponse()


def _may_be_managed(request: Request, ledger: LedgerReader, settings: Settings) -> bool:
    namespace = ledger.namespaces.get(request.namespace)
    if settings.default_queue or settings.require_queue:
        return True
    if namespace is not None and (namespace.queue or namespace.mode == NAMESPACE_ENFORCED):
        return True
    try:
        notes = _METADATA.decode(request.object).metadata.annotations
    except UNREADABLE:
        return True
    return notes is not None and bool(notes.queue or notes.queue_volcano_job or notes.group)


def too_large(request: Request) -> str:
    """Why the objects of a review are too large, for people; empty if they are not."""
    return too_large_together(request.object, request.old_object)


def too_large_together(*encoded: msgspec.Raw) -> str:
    """Why these objects are too large to be all decoded, for people; empty if they are not."""
    longest = max(map(len, encoded))
    if longest > BODY.most:
        return request_messages.beyond_limit(BODY, longest)
    return ""


Steps = list[Mapping[str, object]]
"""Of a JSON patch."""
_NOTES: Final = "/metadata/annotations"
_MOST_TOLD: Final = 3
"""Warnings of one object: Kubernetes cuts off all of them together."""
_LONGEST: Final = 256 * KIB
_NO_KEYS: Final[Collection[str]] = ()


class _Meta(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Template(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _WrittenSpec(msgspec.Struct, rename="camel"):
    template: _Template = msgspec.field(default_factory=_Template)
    job_template: "_Written | None" = None
    tasks: list[msgspec.Raw] | None = None
    """Not decoded: what was stored before may have very many."""


class _Written(_Template):
    spec: _WrittenSpec | None = None


_WRITTEN: Final[msgspec.json.Decoder[_Written | None]] = msgspec.json.Decoder(_Written | None)
_TASK: Final[msgspec.json.Decoder[_WrittenSpec | None]] = msgspec.json.Decoder(_WrittenSpec | None)


def annotations_of(encoded: msgspec.Raw) -> dict[str, str]:
    """All annotations of an object; none if there is no object, or it cannot be read."""
    try:
        found = _WRITTEN.decode(encoded)
    except UNREADABLE:
        return {}
    return (found.metadata.annotations if found is not None else None) or {}


def dropping(keys: Iterable[str]) -> Steps:
    """What takes these annotations off an object that has them."""
    return [{"op": "remove", "path": f"{_NOTES}/{_escaped(key)}"} for key in keys]


def keeping(notes: Mapping[str, str], kept: Mapping[str, str]) -> Steps:
    """What adds annotations to an object that has these `notes`."""
    if kept and not notes:
        return [{"op": "add", "path": _NOTES, "value": kept}]
    return [
        {"op": "add", "path": f"{_NOTES}/{_escaped(key)}", "value": value}
        for key, value in kept.items()
    ]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


Where = Callable[[_Written], Collection[str]]
"""The keys of one part of an object. Raises as decoding does."""


def own(found: _Written) -> Collection[str]:
    """Those of the object itself."""
    return found.metadata.annotations or _NO_KEYS


def of_template(found: _Written) -> Collection[str]:
    """Those of a workload's pods, also where a CronJob makes Jobs of them."""
    spec = found.spec
    if spec is not None and spec.job_template is not None:
        spec = spec.job_template.spec
    return spec.template.metadata.annotations or _NO_KEYS if spec is not None else _NO_KEYS


def of_tasks(found: _Written) -> Collection[str]:
    """Those of the pods of all tasks of a Job of Volcano; none where these are too many."""
    tasks = (found.spec.tasks if found.spec is not None else None) or ()
    if len(tasks) > JOB_TASKS.most:
        return _NO_KEYS
    each = [one.template.metadata.annotations for one in map(_TASK.decode, tasks) if one]
    return dict.fromkeys(key for keys in each for key in keys or ())


def key_warnings(request: Request, keys: KeysOfKind, where: Where = own) -> tuple[str, ...]:
    """At most three, about annotations that were not there before. Never raises: of an object that
    cannot be read nothing is said.
    """
    written = _keys(where, request.object)
    if not written:
        return ()
    found = keys.meaningless(written, _keys(where, request.old_object))[:_MOST_TOLD]
    return tuple(queue_write_messages.no_effect(key, meant=meant) for key, meant in found)


def keys_beside_template(request: Request, template: PodAnnotations | None) -> tuple[str, ...]:
    """Keys of pods that stand on the workload and not in its template; at most two, which were not
    there before. Never raises.
    """
    said = template or PodAnnotations()
    in_template = {
        v.CARD_NAME: said.card_name or said.card_alias,
        v.QUEUE_NAME: said.queue,
        v.GROUP_NAME: said.group,
    }
    written = _keys(own, request.object)
    missing = [key for key, text in in_template.items() if key in written and text is None]
    before = _keys(own, request.old_object) if missing else _NO_KEYS
    found = [key for key in missing if key not in before]
    return tuple(request_messages.key_beside_template(key) for key in found[:2])


def _keys(where: Where, encoded: msgspec.Raw) -> Collection[str]:
    if len(encoded) > _LONGEST:
        return _NO_KEYS
    try:
        found = _WRITTEN.decode(encoded)
        return where(found) if found is not None else _NO_KEYS
    except UNREADABLE:
        return _NO_KEYS
