"""Objects so large that decoding them would hold up all other work (P8).

An API server accepts requests of 3 MB, and etcd objects of half of that. Larger objects can still
be sent by dry run, again and again.
"""

import msgspec

from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import BODY
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.vocabulary import Mode, Reason

from .review import AdmissionResponse, Request, deny


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


def too_large(request: Request) -> str:
    """Why the objects of a review are too large, for people; empty if they are not."""
    return too_large_together(request.object, request.old_object)


def too_large_together(*encoded: msgspec.Raw) -> str:
    """Why these objects are too large to be all decoded, for people; empty if they are not."""
    longest = max(map(len, encoded))
    if longest > BODY.most:
        return request_messages.beyond_limit(BODY, longest)
    return ""
