"""AdmissionReview on the wire: what is read of a request, and the answer.

The answer is never an HTTP 500 and never empty: an unreadable request gets a 4xx or a refusal that
says what is wrong.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec

from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import BODY
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.objects.meta import Wire
from cardquota.quota.objects.pod import PodMeta
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
