"""Jobs of Volcano: the pods that its controllers would make of one, which of them start together,
and whether it can ever run (E5, V4); and what its scheduler is told about enqueueing a group (V3).

Volcano ends a Job whose pods are refused, minutes after it was created. So the Job itself is
refused for what its pods would be refused for. All else is told on its PodGroup and its pods. Until
a group is enqueued, Volcano creates no pods for it: so a vote decides whether pods come that would
only wait. It releases nothing: each pod has its gate.
Questions to the ledger, in steps, between which it may change: nothing is charged here.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import gcd
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..accounts.account import Account, AccountReader
from ..amounts import Amount
from ..ledger.groups.group_facts import AskedCards, GroupFacts, GroupRequest, made_for_pods
from ..ledger.groups.pod_group_state import PodGroupState, Stage
from ..ledger.ledger_reader import LedgerReader
from ..limits import GANG_KINDS, JOB_TASKS, MOST_MEMBERS
from ..messages import request_messages, workload_messages
from ..objects.pod import PodAnnotations
from ..objects.pod_group import GroupSpec, WrittenGroupMeta, WrittenPodGroup
from ..objects.workload import WrittenJobMeta, WrittenTask, WrittenVolcanoJob
from ..pods.pod_facts import PodFacts
from ..pods.pod_request import PodRequest, models_in
from ..pods.workload_facts import pod_of_template
from ..steps import Steps
from ..verdict import Outcome, Shortfall, Verdict, is_for_good
from ..vocabulary import COMPUTE_RESOURCES, DEFAULT_QUEUE, Mode, Reason
from .group_write import judge_group_write
from .judgement import judge_new
from .queue_room import beside_charged, over_quota

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


# --- can it ever run? -----------------------------------------------------------------------------


def judge_job(ledger: LedgerReader, job: WrittenVolcanoJob, *, namespace: str) -> Steps[Verdict]:
    """NEVER for a Job, of not too many tasks, that can never run; else FITS, maybe with warnings.
    Changes its templates. Raises ValueError for a template that cannot be read.
    """
    pods = yield from read_job(ledger, job, namespace)
    start = starting(pods)
    kinds: dict[PodRequest, _JobKind] = {}
    all_known = True
    for task, sure in zip(pods.tasks, start.sure, strict=True):
        verdict = _judge_pod(ledger, task.facts, pods.queue)
        if is_for_good(verdict):
            text = workload_messages.task_never_fits(task.name, verdict.text)
            return _refused(pods, verdict.reason, text)
        if verdict.outcome in (Outcome.FITS, Outcome.WAITS):
            request = ledger.request_of(task.facts, verdict.queue)
            kind = kinds.setdefault(request, _JobKind(request))
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
    never = _minimum_fault(ledger, account, kinds.values(), more) if account is not None else None
    if never is not None:
        text = workload_messages.minimum_never_fits(start.number, never.text)
        return _refused(pods, never.reason, text)
    return Verdict(Outcome.FITS, pods.queue, warnings=tuple(_never_started(job, pods)))


def _refused(pods: JobPods, reason: Reason | None, text: str) -> Verdict:
    name = f"{pods.namespace}/{pods.name}"
    return Verdict(Outcome.NEVER, pods.queue, reason, workload_messages.job_refused(name, text))


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


# --- its minimum against the empty queue: costs by different requests, not by pods ----------------


@dataclass(slots=True)
class _JobKind:
    """Pods that ask for the same."""

    request: PodRequest
    sure: int = 0
    """How many start together in any case."""
    rest: int = 0
    """How many there are besides."""


def _minimum_fault(
    ledger: LedgerReader, account: AccountReader, kinds: Collection[_JobKind], more: int
) -> Verdict | None:
    """Why the pods that start together never fit, with what is charged now. None: it is not proven
    by sums that no choice of pods fits, which Volcano may make.

    `more`: how many of the rest start with the sure ones.
    """
    card_shorts = _of_cards(account, kinds, more)
    other_shorts = list(_of_others(account, kinds, more))
    if not card_shorts and not other_shorts:
        return None
    shorts = [*card_shorts, *other_shorts]
    return over_quota(ledger, account, shorts, never=True, several=True)


def _of_others(
    account: AccountReader, kinds: Collection[_JobKind], more: int
) -> Iterator[Shortfall]:
    for dimension in COMPUTE_RESOURCES:
        each = attrgetter(dimension)
        asked = sum(each(one.request) * number for one, number in _cheapest(kinds, more, each))
        limit = account.limit(dimension)
        if limit is not None and asked > limit:
            yield beside_charged(account, dimension, asked)


def _of_cards(account: AccountReader, kinds: Collection[_JobKind], more: int) -> list[Shortfall]:
    """What is asked of the first set of cards that has too few for the pods that may use no others,
    as far as amounts like theirs can use them. Looked at are the choices that are made, and all
    cards together.
    """
    with_cards = [kind for kind in kinds if kind.request.amount]
    sets = list(dict.fromkeys(frozenset(kind.request.cards) for kind in with_cards))
    for cards in (*sets, frozenset[str]().union(*sets)):
        inside = [kind for kind in with_cards if cards.issuperset(kind.request.cards)]
        elsewhere = sum(kind.rest for kind in kinds) - sum(kind.rest for kind in inside)
        picked = _cheapest(inside, max(0, more - elsewhere), attrgetter("amount"))
        step = gcd(*(kind.request.amount for kind in inside))
        room = sum(account.quota.get(card, 0) // step * step for card in cards) if step else 0
        if sum(kind.request.amount * number for kind, number in picked) > room:
            return [beside_charged(account, card, _asked(picked, card)) for card in sorted(cards)]
    return []


def _asked(picked: Sequence[tuple[_JobKind, int]], card: str) -> int:
    """By the pods that may use this card."""
    return sum(
        kind.request.amount * number for kind, number in picked if card in kind.request.cards
    )


def _cheapest(
    kinds: Collection[_JobKind], more: int, each: Callable[[PodRequest], int]
) -> list[tuple[_JobKind, int]]:
    """How many of each kind start, if so many more than the sure ones are those that ask least."""
    picked = []
    for kind in sorted(kinds, key=lambda kind: each(kind.request)):
        taken = min(more, kind.rest)
        more -= taken
        picked.append((kind, kind.sure + taken))
    return picked


# --- what is told about enqueueing a group (V3) ---------------------------------------------------


class Vote(IntEnum):
    """The numbers that Volcano expects."""

    REJECT = -1
    ABSTAIN = 0
    PERMIT = 1


class EnqueueRequest(NamedTuple):
    """What a group asks for before its pods are there."""

    request: GroupRequest
    exact: bool
    """Whether its pods will ask for just these cards, so that they can be reserved. Else each card
    may be any of several, and only its pods say which: `request` is the least that it needs.
    """


def enqueue_request(ledger: LedgerReader, facts: GroupFacts) -> EnqueueRequest | None:
    """By `card.request`; without it, by the one resource name of `spec.minResources` that counts
    cards, and the cards of the queue's quota behind it. None: it holds no cards, as far as is
    known, or it was made for pods that are there, each of which has its gate.
    """
    request = facts.request
    if request.cards or request.problem:
        return EnqueueRequest(request, exact=True)
    if made_for_pods(facts.name):
        return None
    counted = [one for one in request.resources if ledger.counts(one[0])]
    if len(counted) != 1:
        # Of none no cards are asked for; of several the annotation alone can say which.
        return None
    cards = _cards(ledger, facts.queue, counted[0])
    if not cards:
        return None
    rows = (AskedCards(cards, counted[0][1]),)
    return EnqueueRequest(GroupRequest(rows, request.cpu_memory), exact=len(cards) == 1)


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


def vote_without_judgement(ledger: LedgerReader, group: PodGroupState) -> Vote | None:
    """The vote on a group, where it does not depend on what its queue has room for. None: it does.

    Where nothing is enforced, or no cards are asked for, it is none of ours: where we permit,
    Volcano asks no later tier, as of its own plugins for cpu and memory. A group of which something
    is reserved, or that asks for cards and whose pods are there, is permitted: their gates decide.
    """
    facts = group.facts
    if facts is None or not facts.queue or ledger.mode_in(facts.namespace) is not Mode.ENFORCE:
        return Vote.ABSTAIN
    reserved = group.reservation is not None or group.unwritten
    if not reserved and enqueue_request(ledger, facts) is None:
        return Vote.ABSTAIN
    if group.stage is not Stage.WAITING:
        written = not group.unwritten and not group.reserved_elsewhere
        return Vote.PERMIT if written else Vote.REJECT
    return None


def _cards(ledger: LedgerReader, queue: str, asked: Amount) -> tuple[str, ...]:
    """Those of the quota, most first; else those that nodes have, for the words of a refusal."""
    account = ledger.account(queue) or Account(queue)
    found = models_in(account.quota, asked[0], ledger)
    return found or tuple(sorted(card.name for card in ledger.catalog.cards_of(asked[0])))
