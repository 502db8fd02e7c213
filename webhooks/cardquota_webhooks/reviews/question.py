"""What all questions have in common: how they are asked, and when they are not answered."""

import asyncio
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
"""Questions of one kind that wait while one is answered. Who comes then asks again later."""


class Questions:
    """Answers one question at a time, in slices: many questions take turns with all other work, and
    never hold more than one answer in memory (I5).
    """

    def __init__(self, known: Callable[[], bool]) -> None:
        """`known`: whether the cluster was read, recently enough for an answer."""
        self._known = known
        self._turn = asyncio.Lock()
        self._waiting = 0

    def refused(self, request: Request) -> AdmissionResponse | None:
        """Why it is not answered, whatever is asked; None if it is."""
        if request.operation != "CREATE" or not request.dry_run:
            return deny(answer_messages.send_as_dry_run(request.resource.resource))
        too_large = too_large_together(request.object)
        if too_large:
            return deny(answer_messages.question_refused(request.resource.resource, too_large))
        if not self._known():
            return try_again(gate_messages.not_read_lately())
        if self._waiting >= MOST_WAITING:
            return try_again(answer_messages.too_many_questions())
        return None

    async def answered(self, steps: Steps[T]) -> T:
        """The result, once it is its turn."""
        self._waiting += 1
        try:
            async with self._turn:
                return await in_slices(steps)
        finally:
            self._waiting -= 1


def with_status(answer: Wire) -> AdmissionResponse:
    """The object is returned with this answer."""
    return AdmissionResponse(patch=json_patch({"op": "add", "path": "/status", "value": answer}))


def read_question(decoder: msgspec.json.Decoder[T], request: Request) -> T:
    """Raises ReviewError."""
    try:
        return decoder.decode(request.object)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        what = request.resource.resource
        raise ReviewError(f"the request's object is none of {what}: {error}") from None
