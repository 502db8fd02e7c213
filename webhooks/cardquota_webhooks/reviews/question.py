"""What all questions have in common: how they are asked, and when they are not answered."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from cardquota.loop.time_slice import in_slices
from cardquota.quota.messages import answer_messages, gate_messages
from cardquota.quota.objects.wire import Wire
from cardquota.quota.steps import Steps

from ..large_bodies import too_large_together
from ..review import AdmissionResponse, Request, ReviewError, deny, json_patch, try_again

T = TypeVar("T")
MOST_WAITING: Final = 32
"""Questions of one kind that are answered or wait. Who comes then asks again later."""
MOST_OF_ONE: Final = 4
"""Those of them of one asker: the rest is for others."""


class Questions:
    """Answers one question at a time, in slices: many questions take turns with all other work, and
    never hold more than one answer in memory (I5).
    """

    def __init__(
        self, known: Callable[[], bool], clock: Callable[[], float], timeout_seconds: float
    ) -> None:
        """`known`: whether the cluster was read, recently enough for an answer. `clock`: seconds,
        monotonic. `timeout_seconds`: how long the API server waits for an answer.
        """
        self._known = known
        self._clock = clock
        self._longest_wait = timeout_seconds / 2
        self._turn = asyncio.Lock()
        self._asked = Counter[str]()
        """By asker: the questions that are answered or wait."""

    def refused(self, request: Request, asker: str) -> AdmissionResponse | None:
        """Why it is not answered, whatever is asked; None if it is. `asker`: the namespace or the
        user whose questions must not keep those of others waiting.
        """
        if request.operation != "CREATE" or not request.dry_run:
            return deny(answer_messages.send_as_dry_run(request.resource.resource))
        too_large = too_large_together(request.object)
        if too_large:
            return deny(answer_messages.question_refused(request.resource.resource, too_large))
        if not self._known():
            return try_again(gate_messages.not_read_lately())
        if self._asked.get(asker, 0) >= MOST_OF_ONE or self._asked.total() >= MOST_WAITING:
            return try_again(answer_messages.too_many_questions())
        return None

    async def answered(
        self, asker: str, steps: Steps[T], respond: Callable[[T], AdmissionResponse]
    ) -> AdmissionResponse:
        """The response to the result, once it is its turn. Who has waited for half of the time that
        the API server does asks again: the rest may not be enough, or nobody waits any more.
        """
        since = self._clock()
        self._asked[asker] += 1
        try:
            async with self._turn:
                if self._clock() - since > self._longest_wait:
                    return try_again(answer_messages.too_many_questions())
                return respond(await in_slices(steps))
        finally:
            self._asked[asker] -= 1
            if not self._asked[asker]:
                del self._asked[asker]


def with_status(answer: Wire) -> AdmissionResponse:
    """The object is returned with this answer."""
    return AdmissionResponse(patch=json_patch({"op": "add", "path": "/status", "value": answer}))


def read_question(decoder: msgspec.json.Decoder[T], request: Request) -> T:
    """Raises ReviewError."""
    try:
        found = decoder.decode(request.object)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        what = request.resource.resource
        raise ReviewError(f"the request's object is none of {what}: {error}") from None
    request.drop_objects()
    return found
