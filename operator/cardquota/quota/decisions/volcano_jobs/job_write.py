"""May this write of a Job of Volcano be admitted, and what is to be told? (E5, V4)

Volcano ends a Job whose pods are refused, minutes after it was created. So the Job itself is
refused for what its pods would be refused for. Of a Job that is there only what a write makes worse
is refused: a scale-down, labels or the end of a Job stand in nobody's way.
Questions to the ledger, in steps, between which it may change: nothing is charged here.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...amounts import is_card
from ...effect import is_for_good
from ...ledger.groups.group_request import AskedCards, group_request
from ...ledger.groups.pod_group_state import set_aside
from ...ledger.ledger_reader import LedgerReader
from ...limits import GANG_KINDS, JOB_ALTERNATIVES
from ...messages import request_messages, shortfall_messages
from ...messages.queues import queue_messages
from ...messages.volcano import volcano_job_messages
from ...objects.pod_group import GroupSpec, WrittenGroupMeta, WrittenPodGroup
from ...objects.volcano_job import WrittenVolcanoJob
from ...pods.pod_facts import PodFacts
from ...pods.pod_record import PodRecord
from ...pods.pod_request import PodRequest
from ...steps import Steps
from ...verdict import Outcome, Verdict
from ...vocabulary import CPU, MEMORY, Reason
from ...words import MOST_LISTED
from ..create_judgement import on_the_way
from ..groups.group_write import judge_group_write
from ..judgement import judge_new
from ..probably_meant import queue_meant
from .job_minimum import JobKind, Starting, least_and_most, minimum_fault, starting
from .job_pods import JobPods, read_job
from .job_request import request_disagreement
from .job_room import PodsToCome, room_for_job

_JOB: Final = "Job"
_REQUEST: Final = "card.request"
_MINIMUM: Final = "minimum"
_TASK: Final = "task"
_IN_ALL, _KINDS = "all cards", "different requests"
"""Of what is asked for. A card's name is a label's value, and has no space."""
_OVER: Final = frozenset({"Completed", "Failed", "Terminated"})
"""Phases of a Job that makes no more pods."""


class JobFit(NamedTuple):
    """How many of a Job's pods would be let through now, if not all."""

    asked: int
    fits: int
    why: str
    """Empty if it is not known."""


@dataclass(slots=True)
class JobVerdict:
    """What is to be said of a Job that is written."""

    queue: str = ""
    reason: Reason | None = None
    refusal: str = ""
    """Empty: it is admitted."""
    waits: tuple[str, ...] = ()
    """What its pods will wait for, and an administrator can change."""
    fit: JobFit | None = None
    """None: all of them fit, or that was not asked."""
    warnings: tuple[str, ...] = ()
    """What else is to be told."""


class _Fault(NamedTuple):
    """Why a Job can never run."""

    about: tuple[str, str]
    """A kind, and the name of the task."""
    pods: int
    verdict: Verdict
    text: str

    def is_worse_than(self, other: "_Fault | None") -> bool:
        """`other`: the same of the Job before it is changed."""
        if other is None or self.verdict.reason is not other.verdict.reason:
            return True
        asked = {one.dimension: one.requested for one in other.verdict.shortfalls}
        mine = self.verdict.shortfalls
        if not mine and self.text != other.text:
            return True
        return self.pods > other.pods or any(
            one.requested > asked.get(one.dimension, 0) for one in mine
        )


@dataclass(slots=True)
class _Findings:
    """What was found of a Job."""

    job: JobPods
    faults: list[_Fault] = field(default_factory=list)
    waits: dict[Reason | None, str] = field(default_factory=dict)
    """The first text of each reason."""
    warnings: dict[str, None] = field(default_factory=dict)
    requests: dict[int, PodRequest] = field(default_factory=dict)
    """By index of the task, of those that can be let through."""
    demand: Mapping[str, int] = field(default_factory=dict)
    """What the pods that start together ask for, at least: by choice of cards, in all, cpu, memory,
    and how many different things."""


def judge_job_write(
    ledger: LedgerReader,
    job: WrittenVolcanoJob,
    before: Callable[[], WrittenVolcanoJob] | None = None,
    *,
    namespace: str,
) -> Steps[JobVerdict]:
    """The verdict on a Job of not too many tasks that is created, or, with `before`, changed; that
    is called only if it matters. Changes their templates.

    Raises ValueError for a template that cannot be read, and whatever `before` does.
    """
    state = job.status.state if job.status is not None else None
    if before is not None and state is not None and state.phase in _OVER:
        return JobVerdict()
    found = yield from _find(ledger, job, namespace)
    stored: _Findings | None = None
    old = before() if before is not None and (found.faults or _is_there(ledger, found)) else None
    if old is not None:
        if _request(job) != _request(old):
            found.warnings[volcano_job_messages.request_copied_once()] = None
        if found.faults:
            stored = yield from _find(ledger, old, namespace)
    new = _worse(found, stored)
    verdict = JobVerdict(found.job.queue, waits=tuple(found.waits.values()))
    if new:
        verdict.reason = new[0].verdict.reason
        name = f"{namespace}/{found.job.name}"
        verdict.refusal = volcano_job_messages.job_refused(name, _texts(new))
        return verdict
    for fault in found.faults:
        said = volcano_job_messages.job_stays_wrong(found.job.name, fault.text)
        found.warnings[said] = None
    if not found.faults and not found.waits:
        verdict.fit = yield from _fit(ledger, found, stands=before is not None)
    verdict.warnings = tuple(found.warnings)[:MOST_LISTED]
    return verdict


def _texts(faults: Sequence[_Fault]) -> list[str]:
    """What is told of them: once what is wrong with several tasks alike."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        kind, task = fault.about
        same = found.setdefault(fault.verdict.text if kind == _TASK else fault.text, [])
        same.extend([task] if kind == _TASK else [])
    return [
        volcano_job_messages.task_never_fits(tasks, text) if tasks else text
        for text, tasks in found.items()
    ]


def _is_there(ledger: LedgerReader, found: _Findings) -> bool:
    return found.job.group in ledger.groups


def _request(job: WrittenVolcanoJob) -> str | None:
    notes = job.metadata.annotations
    return notes.request if notes is not None else None


def _worse(found: _Findings, stored: _Findings | None) -> list[_Fault]:
    return [fault for fault in found.faults if _is_worse(fault, found, stored)]


def _is_worse(fault: _Fault, found: _Findings, stored: _Findings | None) -> bool:
    """Which of several faults of a minimum is told depends on all of its tasks. So one that asks
    for no more of anything than before is no worse, whatever is told of it now.
    """
    if stored is None or not stored.faults:
        return True
    if fault.about == (_MINIMUM, ""):
        more = (what for what, asked in found.demand.items() if asked > stored.demand.get(what, 0))
        return any(_matters(what, fault) for what in more)
    known = {one.about: one for one in stored.faults}
    return fault.is_worse_than(known.get(fault.about))


def _matters(what: str, fault: _Fault) -> bool:
    """Whether more of this makes a fault of the minimum worse. Of one card it does for all, since
    which of them is short depends on the choices of all pods.
    """
    short = {one.dimension for one in fault.verdict.shortfalls}
    if what in (CPU, MEMORY):
        return what in short
    return not short if what == _KINDS else any(map(is_card, short))


# --- what can never be right ----------------------------------------------------------------------


def _find(ledger: LedgerReader, job: WrittenVolcanoJob, namespace: str) -> Steps[_Findings]:
    pods = yield from read_job(ledger, job, namespace)
    found = _Findings(pods)
    for index in range(len(pods.tasks)):
        _look_at_task(ledger, found, index)
        yield
    said = _look_at_request(ledger, found, job)
    _look_at_start(found, job)
    start, account = starting(pods), ledger.account(pods.queue)
    kinds = _kinds(found, start)
    all_known = len(found.requests) == len(pods.tasks)
    more = start.more if all_known else 0
    found.demand = _demand(kinds, more)
    if found.faults:
        return found
    if sum(bool(kind.sure) for kind in kinds) > GANG_KINDS.most:
        text = volcano_job_messages.tasks_too_unlike(start.number, GANG_KINDS.most)
        verdict = Verdict(Outcome.NEVER, pods.queue, Reason.INVALID_CARD, text)
        found.faults.append(_Fault((_MINIMUM, ""), start.number, verdict, text))
        return found
    yield
    if account is None or _too_many_alternatives(found):
        return found
    never = minimum_fault(ledger, account, kinds, more)
    if never is not None:
        text = volcano_job_messages.minimum_never_fits(start.number, never.text)
        found.faults.append(_Fault((_MINIMUM, ""), start.number, never, text))
    elif said and all_known:
        text = request_disagreement(said, kinds, more, together=start.number)
        if text:
            found.warnings[text] = None
    yield
    return found


def _look_at_start(found: _Findings, job: WrittenVolcanoJob) -> None:
    """Warnings about Jobs that Volcano itself may never start."""
    for task in job.spec.tasks or ():
        if task.partition_policy:
            found.warnings[volcano_job_messages.partitions_not_supported(task.name)] = None
            break
    pods = found.job
    for task in job.spec.tasks or ():
        if task.depends_on and starting(pods).number == pods.number:
            text = volcano_job_messages.dependent_task(task.name, pods.number)
            found.warnings[text] = None
            break


def _demand(kinds: Sequence[JobKind], more: int) -> dict[str, int]:
    asked = Counter[str]()
    for kind in kinds:
        if kind.request.amount:
            asked["|".join(sorted(kind.request.cards))] += kind.sure * kind.request.amount
    asked[_IN_ALL] = least_and_most(kinds, more, lambda request: request.amount)[0]
    asked[CPU] = least_and_most(kinds, more, lambda request: request.cpu)[0]
    asked[MEMORY] = least_and_most(kinds, more, lambda request: request.memory)[0]
    asked[_KINDS] = sum(bool(kind.sure) for kind in kinds)
    return asked


def _too_many_alternatives(found: _Findings) -> bool:
    return sum(len(one.cards) for one in {*found.requests.values()}) > JOB_ALTERNATIVES.most


def _look_at_task(ledger: LedgerReader, found: _Findings, index: int) -> None:
    task = found.job.tasks[index]
    verdict = _judge_pod(ledger, task.facts, found.job.queue)
    if is_for_good(verdict):
        text = volcano_job_messages.task_never_fits([task.name], verdict.text)
        found.faults.append(_Fault((_TASK, task.name), task.number, verdict, text))
        return
    if verdict.outcome is Outcome.NEVER:
        missing = verdict.reason is Reason.QUEUE_NOT_FOUND
        # A pod would be told to name another queue in an annotation.
        said = _queue_not_found(ledger, task.facts, verdict) if missing else verdict.text
        found.waits.setdefault(verdict.reason, said)
        return
    found.warnings.update(dict.fromkeys((*task.warnings, *verdict.warnings)))
    if ledger.claims_devices(task.facts):
        found.warnings[request_messages.claim_not_counted()] = None
    if verdict.outcome in (Outcome.FITS, Outcome.WAITS):
        found.requests[index] = ledger.request_of(task.facts, verdict.queue)


def _queue_not_found(ledger: LedgerReader, facts: PodFacts, verdict: Verdict) -> str:
    meant = queue_meant(ledger, verdict.queue, facts.namespace)
    return queue_messages.group_queue_not_found(verdict.queue, meant=meant)


def _judge_pod(ledger: LedgerReader, facts: PodFacts, queue: str) -> Verdict:
    """As when Volcano makes it: its group has the queue of the Job."""
    if facts.own_queue != queue:
        text = request_messages.invalid_request(queue, (), facts.problem)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    return judge_new(ledger, facts)


def _look_at_request(
    ledger: LedgerReader, found: _Findings, job: WrittenVolcanoJob
) -> Sequence[AskedCards]:
    """What is wrong with `card.request`, as its pod group will have it; what it says if nothing is.

    The same is not said twice of its pods and of its group.
    """
    text, pods = _request(job), found.job
    if text is None:
        return ()
    meta = WrittenGroupMeta(
        name=pods.name, namespace=pods.namespace, annotations=job.metadata.annotations
    )
    group = WrittenPodGroup(metadata=meta, spec=GroupSpec(queue=pods.queue))
    verdict = judge_group_write(ledger, group, by_controller=True)
    if verdict.outcome is Outcome.NEVER:
        found.faults.append(_Fault((_REQUEST, ""), 0, verdict, verdict.text))
    elif verdict.outcome is Outcome.WAITS:
        found.waits.setdefault(verdict.reason, verdict.text)
    else:
        found.warnings.update(dict.fromkeys(verdict.warnings))
        return group_request(text, None).cards
    return ()


def _kinds(found: _Findings, start: Starting) -> list[JobKind]:
    """The pods of its tasks by what they ask for."""
    kinds: dict[PodRequest, JobKind] = {}
    for index, request in found.requests.items():
        kind = kinds.setdefault(request, JobKind(request))
        kind.sure += start.sure[index]
        kind.rest += found.job.tasks[index].number - start.sure[index]
    return list(kinds.values())


# --- what fits now --------------------------------------------------------------------------------


def _fit(ledger: LedgerReader, found: _Findings, *, stands: bool) -> Steps[JobFit | None]:
    """`stands`: the Job is there already, and may have pods."""
    job, held = found.job, Counter[str]()
    if len(found.requests) < len(job.tasks) or _too_many_alternatives(found):
        return None

    def count(record: PodRecord) -> None:
        facts = record.facts
        if facts.gives_up and record.held and not facts.terminating:
            held[facts.task] += 1

    if stands:
        yield from ledger.made_pods.each(
            job.queue, job.namespace, _JOB, lambda name: name == job.name, count
        )
    account = ledger.account(job.queue)
    if account is None:
        return None
    pods, kept = _to_come(found, held)
    if len(pods) > GANG_KINDS.most:
        return None
    group = ledger.groups.get(job.group)
    with set_aside(group, account):
        way = on_the_way(ledger, account)
        room = room_for_job(account, pods, way)
    fits = kept + room.number
    if fits >= job.number:
        return None
    return JobFit(job.number, fits, shortfall_messages.shortfalls(job.queue, room.shorts))


def _to_come(found: _Findings, held: Mapping[str, int]) -> tuple[list[PodsToCome], int]:
    """Its pods that hold nothing yet, and how many do. Those that start together are the minimum of
    each task, then pods in the order of tasks; once so many hold something all others follow.
    """
    start = starting(found.job)
    more, kept = start.more, 0
    pods: dict[PodRequest, PodsToCome] = {}
    for index, task in enumerate(found.job.tasks):
        here = min(held[task.name], task.number)
        kept += here
        further = min(more, task.number - start.sure[index])
        more -= further
        first = max(0, start.sure[index] + further - here)
        one = pods.setdefault(found.requests[index], PodsToCome(found.requests[index]))
        one.first += first
        one.rest += task.number - here - first
    if kept >= start.number:
        for one in pods.values():
            one.first, one.rest = 0, one.first + one.rest
    return list(pods.values()), kept
