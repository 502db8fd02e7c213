"""The pods that a Job of Volcano would make, as its controllers make them (V4), and which of them
start together (V3).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec.structs import replace

from ...ledger.groups.group_facts import GroupFacts
from ...ledger.groups.group_request import AskedCards
from ...ledger.ledger_reader import LedgerReader
from ...limits import JOB_TASKS, MOST_MEMBERS
from ...objects.pod import PodAnnotations
from ...objects.workload import WrittenJobMeta, WrittenTask, WrittenVolcanoJob
from ...pods.pod_facts import PodFacts
from ...pods.workload_facts import pod_of_template
from ...steps import Steps
from ...vocabulary import DEFAULT_QUEUE
from .enqueue_vote import EnqueueRequest

_JOB: Final = "Job"
_VERSION: Final = "batch.volcano.sh/v1alpha1"


@dataclass(slots=True, frozen=True)
class TaskPods:
    """The pods of one task."""

    name: str
    number: int
    least: int
    """How many of them must start, if as many as these of all tasks do: see `Starting`."""
    facts: PodFacts
    """Any of them, before its pod group is there."""


@dataclass(slots=True, frozen=True)
class JobPods:
    """The pods of one Job."""

    namespace: str
    name: str
    """Of one whose name is generated, the part that is known."""
    queue: str
    min_available: int
    """0: it does not say; then the minimum of each task counts."""
    tasks: Sequence[TaskPods]
    """Those that have pods."""

    @property
    def number(self) -> int:
        """All of its pods."""
        return sum(task.number for task in self.tasks)


def has_too_many_tasks(job: WrittenVolcanoJob) -> int:
    """How many tasks it has, if these are more than are read; else 0 (P8)."""
    number = len(job.spec.tasks or ())
    return number if number > JOB_TASKS.most else 0


def read_job(ledger: LedgerReader, job: WrittenVolcanoJob, namespace: str) -> Steps[JobPods]:
    """Read a Job of not too many tasks, a task at each step. Changes its templates.

    Raises ValueError for a template that cannot be read.
    """
    meta, spec = job.metadata, job.spec
    queue = spec.queue or DEFAULT_QUEUE
    tasks: list[TaskPods] = []
    for index, task in enumerate(spec.tasks or ()):
        number = _bounded(task.replicas)
        if number:
            pods = _pods(ledger, task, meta, namespace, queue)
            least = number if task.min_available is None else _bounded(task.min_available)
            name = task.name or f"default{index}"
            tasks.append(TaskPods(name, number, min(least, number), pods))
        yield
    shown = meta.name or meta.generate_name
    return JobPods(namespace, shown, queue, _bounded(spec.min_available), tasks)


def _bounded(number: int | None) -> int:
    return min(max(0, number or 0), MOST_MEMBERS)


def _pods(
    ledger: LedgerReader, task: WrittenTask, job: WrittenJobMeta, namespace: str, queue: str
) -> PodFacts:
    """Volcano writes the queue and the group itself, over whatever the template says there."""
    template = task.template
    found = template.metadata.annotations or PodAnnotations()
    template.metadata.annotations = replace(
        found, queue_volcano_job=queue, group=None, task=task.name
    )
    return pod_of_template(
        template, namespace, _JOB, ledger.defaults, maker=job.name, api_version=_VERSION
    )


class Starting(NamedTuple):
    """The pods that start together."""

    sure: Sequence[int]
    """Of each task, in their order: how many are among them whatever Volcano chooses."""
    more: int
    """How many pods of any tasks are among them besides."""

    @property
    def number(self) -> int:
        """All of them."""
        return sum(self.sure) + self.more


def starting(job: JobPods) -> Starting:
    """Volcano waits for the minimum of each task unless these are more than the Job's minimum: then
    it waits for any pods. A Job that has no minimum waits for those of its tasks.
    """
    least = [task.least for task in job.tasks]
    minimum = min(job.min_available or sum(least), job.number)
    if minimum == job.number:
        return Starting([task.number for task in job.tasks], 0)
    if sum(least) > minimum:
        return Starting([0] * len(least), minimum)
    return Starting(least, minimum - sum(least))


def request_of_job(
    ledger: LedgerReader, job: WrittenVolcanoJob, facts: GroupFacts, found: EnqueueRequest
) -> Steps[EnqueueRequest | None]:
    """What its group is to be enqueued with: the cards that its pods would be charged. None: they
    ask for none. Not exact, so that nothing is reserved, where Volcano may choose which pods start,
    or where a task cannot be read.

    `found`: what the group says by itself. Raises ValueError for a template that cannot be read.
    """
    pods = yield from read_job(ledger, job, facts.namespace)
    start, account = starting(pods), ledger.account(facts.queue)
    asked, wrong = Counter[tuple[str, ...]](), False
    for task, sure in zip(pods.tasks, start.sure, strict=True):
        reading = ledger.reading_of(task.facts, account)
        request = reading.request
        wrong = wrong or reading.invalid_request is not None or reading.lacks_node
        if sure and request.amount and request.cards:
            asked[request.cards] += sure * request.amount
        yield
    if wrong or start.more:
        return found._replace(exact=False)
    if not asked:
        return None
    rows = tuple(AskedCards(cards, number) for cards, number in asked.items())
    return EnqueueRequest(found.request._replace(cards=rows, resources=()), exact=True)
