"""Can a Job of Volcano that is created ever run? (E5, V4)

Volcano ends a Job whose pods are refused, minutes after it was created. So the Job itself is
refused for what its pods would be refused for. All else is told on its PodGroup and its pods.
A question to the ledger, in steps, between which it may change: nothing is charged here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...ledger.ledger_reader import LedgerReader
from ...limits import GANG_KINDS
from ...messages import request_messages, workload_messages
from ...objects.pod_group import GroupSpec, WrittenGroupMeta, WrittenPodGroup
from ...objects.workload import WrittenVolcanoJob
from ...pods.pod_facts import PodFacts
from ...pods.pod_request import PodRequest
from ...steps import Steps
from ...verdict import Outcome, Verdict, is_for_good
from ...vocabulary import Reason
from ..judgement import judge_new
from .group_write import judge_group_write
from .job_minimum import JobKind, minimum_fault
from .job_pods import JobPods, read_job, starting


@dataclass(slots=True, frozen=True)
class JobVerdict:
    """What is to be said of a Job that is created."""

    reason: Reason | None = None
    refusal: str = ""
    """Empty: it is admitted."""
    warnings: tuple[str, ...] = ()


def judge_job(ledger: LedgerReader, job: WrittenVolcanoJob, *, namespace: str) -> Steps[JobVerdict]:
    """The verdict on a Job of not too many tasks. Changes their templates.

    Raises ValueError for a template that cannot be read.
    """
    pods = yield from read_job(ledger, job, namespace)
    start = starting(pods)
    kinds: dict[PodRequest, JobKind] = {}
    all_known = True
    for task, sure in zip(pods.tasks, start.sure, strict=True):
        verdict = _judge_pod(ledger, task.facts, pods.queue)
        if is_for_good(verdict):
            text = workload_messages.task_never_fits(task.name, verdict.text)
            return _refused(pods, verdict.reason, text)
        if verdict.outcome in (Outcome.FITS, Outcome.WAITS):
            request = ledger.request_of(task.facts, verdict.queue)
            kind = kinds.setdefault(request, JobKind(request))
            kind.sure += sure
            kind.rest += task.number - sure
        else:
            all_known = False  # an administrator may change something, and its pods ask for others
        yield
    asked = _judge_request(ledger, job, pods)
    if asked is not None:
        return _refused(pods, asked.reason, asked.text)
    if sum(bool(kind.sure) for kind in kinds.values()) > GANG_KINDS.most:
        text = workload_messages.tasks_too_unlike(start.number, GANG_KINDS.most)
        return _refused(pods, Reason.INVALID_CARD, text)
    account, more = ledger.account(pods.queue), start.more if all_known else 0
    never = minimum_fault(ledger, account, kinds.values(), more) if account is not None else None
    if never is not None:
        text = workload_messages.minimum_never_fits(start.number, never.text)
        return _refused(pods, never.reason, text)
    return JobVerdict(warnings=tuple(_never_started(job, pods)))


def _refused(pods: JobPods, reason: Reason | None, text: str) -> JobVerdict:
    name = f"{pods.namespace}/{pods.name}"
    return JobVerdict(reason, workload_messages.job_refused(name, text))


def _judge_pod(ledger: LedgerReader, facts: PodFacts, queue: str) -> Verdict:
    """As when Volcano makes it: its group has the queue of the Job."""
    if facts.own_queue != queue:
        text = request_messages.invalid_request(queue, (), facts.problem)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    return judge_new(ledger, facts)


def _judge_request(ledger: LedgerReader, job: WrittenVolcanoJob, pods: JobPods) -> Verdict | None:
    """Why `card.request`, as its pod group will have it, can never be right; None: it may."""
    notes = job.metadata.annotations
    if notes is None or notes.request is None:
        return None
    meta = WrittenGroupMeta(name=pods.name, namespace=pods.namespace, annotations=notes)
    group = WrittenPodGroup(metadata=meta, spec=GroupSpec(queue=pods.queue))
    verdict = judge_group_write(ledger, group, by_controller=True)
    return verdict if verdict.outcome is Outcome.NEVER else None


def _never_started(job: WrittenVolcanoJob, pods: JobPods) -> Iterator[str]:
    """Warnings about what Volcano itself may never start, one of each kind."""
    tasks = job.spec.tasks or ()
    divided = next((task for task in tasks if task.partition_policy), None)
    if divided is not None:
        yield workload_messages.partitions_not_supported(divided.name)
    later = next((task for task in tasks if task.depends_on), None)
    if later is not None and starting(pods).number == pods.number:
        yield workload_messages.dependent_task(later.name, pods.number)
