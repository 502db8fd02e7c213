"""Objects so large that even to decode them would hold up everybody else (P8).

An API server takes requests of 3 MB, and etcd objects of half of that: what is larger can be asked
about by dry run, again and again, and is never stored.
"""

from cardquota.quota import messages
from cardquota.quota.ledger import Ledger
from cardquota.quota.limits import BODY
from cardquota.quota.vocabulary import Mode, Reason

from .review import Answer, Request, deny


def is_large(request: Request) -> bool:
    """Whether one of the objects of a review is larger than what is read."""
    return max(len(request.object), len(request.old_object)) > BODY.most


def answer_to_large(request: Request, ledger: Ledger) -> Answer | None:
    """The answer to a review of an object that is too large; None: it is not.

    Refused where rules are enforced; a word elsewhere.
    """
    if not is_large(request):
        return None
    text = too_large(request)
    mode = ledger.mode_in(request.namespace)
    if mode is Mode.ENFORCE:
        return deny(text, reason=Reason.INVALID_CARD)
    return Answer(warnings=(messages.audited(text),)) if mode is Mode.AUDIT else Answer()


def too_large(request: Request) -> str:
    """What is said of it."""
    return messages.beyond_limit(BODY, max(len(request.object), len(request.old_object)))
