"""Objects so large that decoding them would hold up all other work (P8).

An API server accepts requests of 3 MB, and etcd objects of half of that. Larger objects can still
be sent by dry run, again and again.
"""

from typing import Final

import msgspec

from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import BODY
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.objects.pod import PodMeta
from cardquota.quota.objects.wire import Wire
from cardquota.quota.vocabulary import NAMESPACE_ENFORCED, Mode, Reason
from cardquota.settings import Settings

from .review import AdmissionResponse, Request, deny


class _OnlyMetadata(Wire):
    metadata: PodMeta


_METADATA: Final = msgspec.json.Decoder(_OnlyMetadata)


def is_large(request: Request) -> bool:
    """Whether the objects of a review are too large to be read."""
    return bool(too_large(request))


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
    except (msgspec.DecodeError, ValueError, RecursionError):
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
