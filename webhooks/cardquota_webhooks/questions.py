"""Questions about one queue or one workload, which the answer to their review answers.

In: the create of an object that nobody stores, as a dry run. Out: a patch that adds the answer to
it. A pure function of the request and the ledger's view, on any replica.
"""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace
from prometheus_client import Counter as Metric

from cardquota.api.reviews import DEFAULT_LIMIT, LARGEST_LIMIT, LONGEST_KIND
from cardquota.install.webhook_objects import MUTATE
from cardquota.loop.turns import Turns, WaitedTooLongError
from cardquota.quota.accounts.account import OUTSIDE
from cardquota.quota.answers.asked_workload import AskedWorkload, workload_meant
from cardquota.quota.answers.explanation import explain
from cardquota.quota.answers.queue_answer import queue_answer
from cardquota.quota.answers.reclaim_answer import ReclaimRules
from cardquota.quota.decisions.verdict_texts import any_queue_meant
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import is_object_name
from cardquota.quota.messages import answer_messages, gate_messages
from cardquota.quota.objects.meta import Wire
from cardquota.quota.reclaim.reclaim_notes import ReclaimNotes
from cardquota.quota.steps import Steps
from cardquota.quota.vocabulary import QUEUE_REVIEWS, REVIEW_GROUP, WORKLOAD_REVIEWS, ReclaimMode
from cardquota.quota.words import time_text
from cardquota.settings import Settings

from .review import (
    AdmissionResponse,
    Request,
    Routes,
    decoded,
    deny,
    json_patch,
    too_large_together,
    try_again,
)

T = TypeVar("T")


class Questions:
    """Answers one question at a time: they take turns (I5)."""

    def __init__(
        self, known: Callable[[], bool], clock: Callable[[], float], timeout_seconds: float
    ) -> None:
        """`known`: whether the cluster was read, recently enough for an answer. `clock`: seconds,
        monotonic. `timeout_seconds`: how long the API server waits for an answer.
        """
        self._known = known
        self._turns = Turns(clock, timeout_seconds / 2)

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
        if self._turns.taken(asker):
            return try_again(answer_messages.too_many_questions())
        return None

    async def answered(self, asker: str, steps: Steps[AdmissionResponse]) -> AdmissionResponse:
        """What comes of the steps, once it is its turn. Who has waited for half of the time that
        the API server does asks again: the rest may not be enough, or nobody waits any more.
        """
        try:
            return await self._turns.done(asker, steps)
        except WaitedTooLongError:
            return try_again(answer_messages.too_many_questions())


def _with_status(answer: Wire) -> AdmissionResponse:
    """The object is returned with this answer."""
    return AdmissionResponse(patch=json_patch({"op": "add", "path": "/status", "value": answer}))


def _read(decoder: msgspec.json.Decoder[T], request: Request) -> T:
    found = decoded(decoder, request.object, f"none of {request.resource.resource}")
    request.drop_objects()
    return found


class _QueueSpec(Wire):
    queue: str
    limit: int | None = None


class _QueueQuestion(Wire):
    spec: _QueueSpec


class _WorkloadSpec(Wire):
    kind: str
    name: str
    api_version: str | None = None


class _WorkloadQuestion(Wire):
    spec: _WorkloadSpec


_OF_QUEUE: Final = msgspec.json.Decoder(_QueueQuestion)
_OF_WORKLOAD: Final = msgspec.json.Decoder(_WorkloadQuestion)
_KIND: Final = re.compile(rf"[A-Za-z][A-Za-z0-9]{{0,{LONGEST_KIND - 1}}}", re.ASCII)
_VOLCANOS: Final = "batch.volcano.sh/"


class QuestionReviews:
    """Whoever may create QueueReviews learns the names of workloads in all namespaces. Whoever may
    create WorkloadReviews in a namespace learns the names of workloads there; of others numbers,
    and of other queues those that the namespace may use (F4), or that give back cards (L7).
    """

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        known: Callable[[], bool],
        wall_clock: Callable[[], float],
        clock: Callable[[], float],
        refused_writes: Metric,
        reclaim_notes: ReclaimNotes,
    ) -> None:
        """`known`: whether the cluster was read, recently enough. `wall_clock`: since 1970, s.
        `clock`: seconds, monotonic. `refused_writes`: told without a queue's name (V1).
        `reclaim_notes`: by `clock`.
        """
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._reclaim = settings.reclaim
        self._preempt_after = settings.preempt.after
        self._reclaim_notes = reclaim_notes
        self._clock = clock
        self._wall_clock = wall_clock
        self._refused_writes = refused_writes
        timeout = settings.webhook.timeout_seconds
        self._of_queues = Questions(known, clock, timeout)
        self._of_workloads = Questions(known, clock, timeout)
        self.routes: Final[Routes] = {
            (MUTATE, REVIEW_GROUP, QUEUE_REVIEWS): self.of_queue,
            (MUTATE, REVIEW_GROUP, WORKLOAD_REVIEWS): self.of_workload,
        }

    async def of_queue(self, request: Request) -> AdmissionResponse:
        """Add the answer, or refuse what is no question, or asks about no queue."""
        asker = request.user_info.username
        refused = self._of_queues.refused(request, asker)
        if refused is not None:
            return refused
        spec = _read(_OF_QUEUE, request).spec
        if spec.queue != OUTSIDE and not is_object_name(spec.queue):
            return _no_queue(spec.queue)
        return await self._of_queues.answered(asker, self._about_queue(spec))

    def _about_queue(self, spec: _QueueSpec) -> Steps[AdmissionResponse]:
        """About a queue; without a name, about what is used outside every queue."""
        wanted = DEFAULT_LIMIT if spec.limit is None else spec.limit
        limit, time = max(0, min(wanted, LARGEST_LIMIT)), self._time()
        found = yield from queue_answer(self._ledger, spec.queue, limit=limit, time=time)
        if found is None:
            return _no_queue(spec.queue, any_queue_meant(self._ledger, spec.queue))
        if spec.queue == OUTSIDE:
            found = replace(found, refused_writes=_total(self._refused_writes))
        return _with_status(found)

    async def of_workload(self, request: Request) -> AdmissionResponse:
        """Add the answer, or refuse what is no question, or asks about nothing of ours."""
        refused = self._of_workloads.refused(request, request.namespace)
        if refused is not None:
            return refused
        spec = _read(_OF_WORKLOAD, request).spec
        volcano = spec.api_version.startswith(_VOLCANOS) if spec.api_version else None
        asked = AskedWorkload(spec.kind, request.namespace, spec.name, volcano)
        if not _KIND.fullmatch(spec.kind) or not is_object_name(spec.name):
            return _not_known(asked)
        return await self._of_workloads.answered(request.namespace, self._about_workload(asked))

    def _about_workload(self, asked: AskedWorkload) -> Steps[AdmissionResponse]:
        found = yield from explain(
            self._ledger,
            asked,
            self._time(),
            require_queue=self._require_queue,
            rules=self._reclaim_rules(),
        )
        if found is not None:
            return _with_status(found)
        return _not_known(asked, (yield from workload_meant(self._ledger, asked)))

    def _reclaim_rules(self) -> ReclaimRules | None:
        """None: nothing is said of reclaiming."""
        reclaim = self._reclaim
        if reclaim.mode is ReclaimMode.OFF:
            return None
        return ReclaimRules(
            mode_in=reclaim.mode_in,
            after=reclaim.after,
            preempt_after=self._preempt_after,
            past_admission=reclaim.past_admission,
            refused=self._reclaim_notes.refused,
            since=self._reclaim_notes.since,
            now=self._clock(),
            wall=self._wall_clock(),
        )

    def _time(self) -> str:
        return time_text(int(self._wall_clock()))


def _total(counter: Metric) -> int:
    """Of all of its labels."""
    samples = (one for family in counter.collect() for one in family.samples)
    return int(sum(one.value for one in samples if one.name.endswith("_total")))


def _no_queue(name: str, meant: str = "") -> AdmissionResponse:
    text = answer_messages.no_such_queue(name, meant=meant)
    return deny(text, code=HTTPStatus.NOT_FOUND, reason="NotFound")


def _not_known(asked: AskedWorkload, meant: str = "") -> AdmissionResponse:
    text = answer_messages.no_such_workload(asked.kind, asked.namespace, asked.name, meant=meant)
    return deny(text, code=HTTPStatus.NOT_FOUND, reason="NotFound")
