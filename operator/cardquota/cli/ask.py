"""Questions to the operator: an object is created as a dry run, and comes back with the answer.

Nothing is stored at the API server.
"""

import re
from asyncio import sleep
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..quota.answers.answer_forms import CardAmount
from ..quota.objects.meta import Wire
from ..quota.vocabulary import REVIEW_GROUP, REVIEW_VERSION
from ..quota.words import first_of, lasting, seconds_of, show
from .reading import FORBIDDEN, NOT_FOUND, ClusterError, no_namespace, without_call


class NoAnswerError(ClusterError):
    """The operator, or the API server, has not answered. The text is one line for the user."""


T = TypeVar("T", bound=Wire)
_TRIES: Final = 4
"""While very many ask, or the operator has not read the cluster yet."""
_LONGEST_PAUSE: Final = 2.0
"""Seconds between two of them."""
_DENIED: Final = "denied the request: "
_NOT_CALLED: Final = ("failed calling webhook", "failed to call webhook")
_NOT_ALLOWED: Final = "cannot create"
"""What it says to who lacks the right. A namespace that is being deleted is 403, too."""
_NO_NAMESPACE: Final = re.compile(r'namespaces "([^"]*)" not found')
_LONGEST: Final = 300
"""Characters of what the API server says."""
_UNANSWERED: Final = "status: Required value"


class _AnsweredReview(Wire, Generic[T]):
    status: T


async def ask(
    client: Client,
    answer: type[T],
    kind: str,
    resource: str,
    spec: Mapping[str, object],
    *,
    within: str = "",
) -> T:
    """The answer. `resource`: as roles name it. Needs the right to create it, and no other.

    `within`: the path of the namespace of a question that has one. Errors: NoAnswerError.
    """
    path = f"/apis/{REVIEW_GROUP}/{REVIEW_VERSION}{within}/{resource}"
    body = {
        "apiVersion": f"{REVIEW_GROUP}/{REVIEW_VERSION}",
        "kind": kind,
        "metadata": {"generateName": "kubectl-cardquota-"},
        "spec": spec,
    }
    try:
        text = await _answered(client, path, body)
        return msgspec.json.decode(text, type=_AnsweredReview[answer]).status  # type: ignore[valid-type]
    except ApiError as error:
        raise NoAnswerError(_why(error, resource)) from error
    except OutcomeUnknown as error:
        why = show(without_call(str(error)), most=_LONGEST)
        raise NoAnswerError(f"the API server does not answer: {why}") from error
    except msgspec.MsgspecError as error:
        raise NoAnswerError(
            "the operator's answer cannot be read: the operator and this plugin are probably of "
            "different versions"
        ) from error


async def _answered(client: Client, path: str, body: object) -> bytes:
    for tries_left in reversed(range(_TRIES)):
        try:
            return await client.post(path, body, params={"dryRun": "All"})
        except ApiError as error:
            if error.status != 429 or not tries_left:
                raise
            pause = min(error.retry_after or 1.0, _LONGEST_PAUSE)
        await sleep(pause)
    raise AssertionError("the last try returns or raises")


def _why(error: ApiError, resource: str) -> str:
    """In one line."""
    message = error.message
    if error.denied:
        return message.partition(_DENIED)[2] or message
    if error.status == NOT_FOUND:
        missing = _NO_NAMESPACE.fullmatch(message)
        installed = "cardquota is not installed here, or is older than this plugin"
        return no_namespace(missing[1]) if missing else installed
    if error.status == FORBIDDEN and _NOT_ALLOWED in message:
        right = f"{resource}.{REVIEW_GROUP}"
        return f"you may not ask this: it needs the right to create {right}"
    if error.status == FORBIDDEN:
        return show(message, most=_LONGEST)
    if any(text in message for text in _NOT_CALLED):
        return f"the operator does not answer: {show(message, most=_LONGEST)}"
    if _UNANSWERED in message:
        return (
            "no operator answers: see whether it runs, and whether its webhook configuration "
            "cardquota-reviews exists (`cardquota manifests` prints it)"
        )
    return str(error)


NOTHING: Final = "-"


def amounts_text(amounts: Sequence[CardAmount]) -> str:
    """The first three, then the number of the rest."""
    texts = [f"{show(one.name)} {one.amount}" for one in amounts]
    return first_of(texts, ", ", most=3) or NOTHING


def ago(since: str, now: str) -> str:
    """How long `since` is before `now`, both RFC 3339."""
    first, last = seconds_of(since), seconds_of(now)
    return NOTHING if first is None or last is None else lasting(max(0, last - first))
