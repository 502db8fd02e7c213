"""Asks the operator by way of the API server. Nothing is stored there."""

import re
from asyncio import sleep
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...quota.objects.meta import Wire
from ...quota.vocabulary import REVIEW_GROUP, REVIEW_VERSION
from ...quota.words import show
from .. import sentences
from . import review_sentences
from .no_answer import NoAnswerError

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
    answer: type[T],
    kind: str,
    resource: str,
    spec: Mapping[str, object],
    *,
    namespaced: bool = False,
    namespace: str = "",
    kubeconfig: Path | None,
    context: str,
) -> T:
    """The answer. `resource`: as roles name it. Needs the right to create it, and no other.

    `namespace`: of a `namespaced` one; empty: that of the context.
    Errors: AccessError, NoAnswerError.
    """
    access = await find_access(kubeconfig, context)
    client = Client(access)
    within = f"/namespaces/{namespace or access.namespace}" if namespaced else ""
    try:
        return await ask_through(client, answer, kind, resource, spec, within=within)
    finally:
        await client.close()


async def ask_through(
    client: Client,
    answer: type[T],
    kind: str,
    resource: str,
    spec: Mapping[str, object],
    *,
    within: str = "",
) -> T:
    """The same through a client, which stays open. `within`: the path of its namespace.

    Errors: NoAnswerError.
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
        raise NoAnswerError(
            review_sentences.not_reached(sentences.without_call(str(error)))
        ) from error
    except msgspec.MsgspecError as error:
        raise NoAnswerError(review_sentences.NOT_UNDERSTOOD) from error


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
    if error.status == 404:
        missing = _NO_NAMESPACE.fullmatch(message)
        return sentences.no_namespace(missing[1]) if missing else review_sentences.NOT_INSTALLED
    if error.status == 403 and _NOT_ALLOWED in message:
        return review_sentences.forbidden(f"{resource}.{REVIEW_GROUP}")
    if error.status == 403:
        return show(message, most=_LONGEST)
    if any(text in message for text in _NOT_CALLED):
        return review_sentences.operator_silent(message)
    if _UNANSWERED in message:
        return review_sentences.NOBODY_ANSWERS
    return str(error)
