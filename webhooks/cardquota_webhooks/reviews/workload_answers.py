"""Answers to WorkloadReviews: how a workload stands."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import msgspec

from cardquota.api.reviews import LONGEST_KIND
from cardquota.quota.answers.answer_forms import Explanation
from cardquota.quota.answers.asked_workload import AskedWorkload, workload_meant
from cardquota.quota.answers.explanation import explain
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import is_object_name
from cardquota.quota.messages import standing_messages
from cardquota.quota.moments import time_text
from cardquota.quota.objects.wire import Wire
from cardquota.quota.steps import Steps
from cardquota.settings import Settings

from ..review import AdmissionResponse, Request, deny
from .question import Questions, read_question, with_status

_KIND: Final = re.compile(rf"[A-Za-z][A-Za-z0-9]{{0,{LONGEST_KIND - 1}}}", re.ASCII)
_VOLCANOS: Final = "batch.volcano.sh/"


class _WorkloadSpec(Wire):
    kind: str
    name: str
    api_version: str | None = None


class _WorkloadQuestion(Wire):
    spec: _WorkloadSpec


_DECODER: Final = msgspec.json.Decoder(_WorkloadQuestion)


class WorkloadAnswers:
    """Whoever may create WorkloadReviews in a namespace learns the names of workloads there; of
    others numbers, and of other queues those that the namespace may use.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        known: Callable[[], bool],
        wall_clock: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        """`known`: whether the cluster was read, recently enough. `wall_clock`: since 1970, s.
        `clock`: seconds, monotonic.
        """
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._questions = Questions(known, clock, settings.webhook.timeout_seconds)
        self._wall_clock = wall_clock

    async def answer(self, request: Request) -> AdmissionResponse:
        """Add the answer, or refuse what is no question, or asks about nothing of ours."""
        refused = self._questions.refused(request, request.namespace)
        if refused is not None:
            return refused
        spec = read_question(_DECODER, request).spec

        asked = AskedWorkload(spec.kind, request.namespace, spec.name, _of_volcano(spec))
        if not _KIND.fullmatch(spec.kind) or not is_object_name(spec.name):
            return _not_known(asked)
        steps = self._answer_or_meant(asked)

        def respond(found: Explanation | str) -> AdmissionResponse:
            return _not_known(asked, found) if isinstance(found, str) else with_status(found)

        return await self._questions.answered(request.namespace, steps, respond)

    def _answer_or_meant(self, asked: AskedWorkload) -> Steps[Explanation | str]:
        """The answer; where nothing of this name concerns us, the name that was probably meant."""
        time = time_text(int(self._wall_clock()))
        steps = explain(self._ledger, asked, time, require_queue=self._require_queue)
        found = yield from steps
        if found is not None:
            return found
        return (yield from workload_meant(self._ledger, asked))


def _not_known(asked: AskedWorkload, meant: str = "") -> AdmissionResponse:
    text = standing_messages.no_such_workload(asked.kind, asked.namespace, asked.name, meant=meant)
    return deny(text, code=HTTPStatus.NOT_FOUND, reason="NotFound")


def _of_volcano(spec: _WorkloadSpec) -> bool | None:
    return None if not spec.api_version else spec.api_version.startswith(_VOLCANOS)
