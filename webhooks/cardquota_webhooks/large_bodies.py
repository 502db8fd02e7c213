"""Objects so large that even to decode them would hold up everybody else (P8).

An API server takes requests of 3 MB, and etcd objects of half of that: what is larger can be asked
about by dry run, again and again. What it takes to decode one goes by the number of its elements.
"""

import msgspec

from cardquota.quota import messages
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import BODY, ELEMENTS, elements_of
from cardquota.quota.vocabulary import Mode, Reason

from .review import AdmissionResponse, Request, deny


def is_large(request: Request) -> bool:
    """Whether the objects of a review are larger than what is read."""
    return bool(too_large(request))


def answer_to_large(request: Request, ledger: LedgerReader) -> AdmissionResponse | None:
    """The answer to a review of an object that is too large; None: it is not.

    Refused where rules are enforced; a word elsewhere.
    """
    text = too_large(request)
    if not text:
        return None
    mode = ledger.mode_in(request.namespace)
    if mode is Mode.ENFORCE:
        return deny(text, reason=Reason.INVALID_CARD)
    if mode is Mode.AUDIT:
        return AdmissionResponse(warnings=(messages.audited(text),))
    return AdmissionResponse()


def too_large(request: Request) -> str:
    """What is said of it; empty: nothing, it is not."""
    return too_large_together(request.object, request.old_object)


def too_large_together(*encoded: msgspec.Raw) -> str:
    """What is said of objects of which all are to be decoded; empty: they may be."""
    longest = max(map(len, encoded))
    if longest > BODY.most:
        return messages.beyond_limit(BODY, longest)
    found = elements_of(*encoded)
    if found <= ELEMENTS.most:
        return ""
    several = sum(len(one) > len("null") for one in encoded) > 1
    of = "the object, with what it was before," if several else "the object"
    return messages.beyond_limit(ELEMENTS, found, of=of)
