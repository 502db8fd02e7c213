"""Answers to QueueReviews: what a queue holds, who holds it, who waits, what would fit now."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import msgspec
from msgspec.structs import replace
from prometheus_client import Counter

from cardquota.api.reviews import DEFAULT_LIMIT, LARGEST_LIMIT
from cardquota.quota.accounts.account import OUTSIDE
from cardquota.quota.answers.answer_forms import QueueAnswer
from cardquota.quota.answers.queue_answer import outside_answer, queue_answer
from cardquota.quota.decisions.probably_meant import any_queue_meant
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import is_object_name
from cardquota.quota.messages import answer_messages
from cardquota.quota.moments import time_text
from cardquota.quota.objects.wire import Wire
from cardquota.quota.steps import Steps
from cardquota.settings import Settings

from ..review import AdmissionResponse, Request, deny
from .question import Questions, read_question, with_status


class _QueueSpec(Wire):
    queue: str
    limit: int | None = None


class _QueueQuestion(Wire):
    spec: _QueueSpec


_DECODER: Final = msgspec.json.Decoder(_QueueQuestion)


class QueueAnswers:
    """Whoever may create QueueReviews learns the names of workloads in all namespaces."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        known: Callable[[], bool],
        wall_clock: Callable[[], float],
        clock: Callable[[], float],
        refused_writes: Counter,
    ) -> None:
        """`known`: whether the cluster was read, recently enough. `wall_clock`: since 1970, s.
        `clock`: seconds, monotonic. `refused_writes`: told without a queue's name (V1).
        """
        self._ledger = ledger
        self._questions = Questions(known, clock, settings.webhook.timeout_seconds)
        self._wall_clock = wall_clock
        self._refused_writes = refused_writes

    async def answer(self, request: Request) -> AdmissionResponse:
        """Add the answer, or refuse what is no question, or asks about no queue."""
        refused = self._questions.refused(request, request.user_info.username)
        if refused is not None:
            return refused
        spec = read_question(_DECODER, request).spec
        if spec.queue != OUTSIDE and not is_object_name(spec.queue):
            return _no_queue(spec.queue)
        steps = self._answer(spec)

        def respond(found: QueueAnswer | None) -> AdmissionResponse:
            if found is not None:
                return with_status(found)
            return _no_queue(spec.queue, any_queue_meant(self._ledger, spec.queue))

        return await self._questions.answered(request.user_info.username, steps, respond)

    def _answer(self, spec: _QueueSpec) -> Steps[QueueAnswer | None]:
        """About a queue; without a name, about what is used outside every queue."""
        wanted = DEFAULT_LIMIT if spec.limit is None else spec.limit
        limit, time = max(0, min(wanted, LARGEST_LIMIT)), time_text(int(self._wall_clock()))
        if spec.queue == OUTSIDE:
            found = yield from outside_answer(self._ledger, limit=limit, time=time)
            return replace(found, refused_writes=_total(self._refused_writes))
        return (yield from queue_answer(self._ledger, spec.queue, limit=limit, time=time))


def _total(counter: Counter) -> int:
    """Of all of its labels."""
    samples = (one for family in counter.collect() for one in family.samples)
    return int(sum(one.value for one in samples if one.name.endswith("_total")))


def _no_queue(name: str, meant: str = "") -> AdmissionResponse:
    text = answer_messages.no_such_queue(name, meant=meant)
    return deny(text, code=HTTPStatus.NOT_FOUND, reason="NotFound")
