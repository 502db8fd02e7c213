"""A trace in virtual time: jobs come, wait, hold their cards for their duration, and end.

Nothing is decided here. Admission, the gates and their order are those of `Simulation`, which has
the operator's ledger and release; nodes are its simulated nodes. What is added is the time: the
next moment is the next arrival or end, and between two moments nothing happens.
"""

import heapq
from collections.abc import Sequence
from typing import Final

from ....quota.ledger.ledger import Ledger
from ....quota.objects.meta import Owner
from ....quota.objects.pod import Container, Pod, PodAnnotations, PodMeta, PodSpec, Resources
from ....quota.objects.pod_group import GroupMeta, GroupSpec, PodGroup
from ....quota.objects.wire import ResourceList
from ....quota.vocabulary import CPU, MEMORY
from ... import sentences
from ..answers import Answer, PodAnswer
from ..simulation import Simulation
from .job_record import JobRecord, JobState, Placement
from .trace_job import TraceJob
from .unschedulable_pods import UnschedulablePods

_WHERE_UNKNOWN: Final = "nvidia.com/gpu"
"""The resource name of a card that neither a node nor a Queue's status shows."""


class _LiveJob:
    """A job whose pods exist."""

    def __init__(self, record: JobRecord) -> None:
        self.record = record
        self.answers: dict[str, PodAnswer] = {}
        """By uid of its pods."""
        self.gated = 0
        self.without_node = 0


class Timeline:
    """Runs a trace once. Pods of a job that ended are forgotten; its record is kept."""

    def __init__(self, simulation: Simulation, jobs: Sequence[TraceJob]) -> None:
        """`simulation`: one that has seen its cluster. `jobs`: by arrival."""
        self._simulation = simulation
        self._records = [JobRecord(job) for job in jobs]
        self._unschedulable = UnschedulablePods(simulation)
        self._now = 0
        self._ends: list[tuple[int, int, _LiveJob]] = []
        """A heap: when a job ends. The number decides between equals."""
        self._started = 0
        self._jobs: dict[str, _LiveJob] = {}
        """By uid of a pod."""

    def run(self) -> list[JobRecord]:
        """The jobs in the order of the trace, when all have come and nothing can happen any more.

        At one moment jobs end first. Then others come, one after the other.
        """
        for record in self._records:
            self._advance(record.job.arrival)
            self._arrive(record)
            self._settle()
        while self._ends:
            self._advance(self._ends[0][0])
        for live in dict.fromkeys(self._jobs.values()):
            self._explain(live)
        return self._records

    def _advance(self, until: int) -> None:
        """Let jobs end, up to and with this moment."""
        while self._ends and self._ends[0][0] <= until:
            self._go_to(self._ends[0][0])
            while self._ends and self._ends[0][0] == self._now:
                _, _, live = heapq.heappop(self._ends)
                live.record.ended, live.record.state = self._now, JobState.ENDED
                self._delete(live)
            self._settle()
        self._go_to(until)

    def _go_to(self, moment: int) -> None:
        self._now = moment
        self._simulation.at(moment)

    def _arrive(self, record: JobRecord) -> None:
        """Create the pods of a job, the group of a gang before them."""
        job, live = record.job, _LiveJob(record)
        if job.pods > 1:
            self._simulation.put_group(_group(job))
        for pod in _pods(job, self._simulation.ledger):
            uid, answer = self._simulation.create(pod)
            if answer.answer is Answer.DENIED:
                record.state, record.text = JobState.DENIED, answer.text
                self._delete(live)
                return
            live.answers[uid] = answer
            self._jobs[uid] = live
        live.gated = live.without_node = job.pods
        record.wanted = self._wanted(next(iter(live.answers)))
        for uid, answer in live.answers.items():
            if answer.answer is Answer.UNMANAGED:
                self._opened(uid)

    def _wanted(self, uid: str) -> tuple[str, ...]:
        found = self._simulation.ledger.pods.get(uid)
        return found.request.cards if found is not None and found.request is not None else ()

    def _settle(self) -> None:
        """Bind and open gates until nothing more can be done at this moment."""
        for uid in self._unschedulable.bind():
            self._bound(uid)
        for uid in self._simulation.release():
            self._opened(uid)
        self._simulation.ledger.decisions.rest()

    def _opened(self, uid: str) -> None:
        live = self._jobs[uid]
        live.gated -= 1
        if not live.gated:
            live.record.let_through, live.record.state = self._now, JobState.PENDING
            live.record.charged = _sum(live)
        if live.answers[uid].node:
            self._bound(uid)
        else:
            self._unschedulable.add(uid)

    def _bound(self, uid: str) -> None:
        live = self._jobs[uid]
        answer, record = live.answers[uid], live.record
        for card, amount in answer.cards.items():
            last = record.placements[-1] if record.placements else None
            if last is not None and last[:3] == (self._now, answer.node, card):
                amount += record.placements.pop().cards
            record.placements.append(Placement(self._now, answer.node, card, amount))
        live.without_node -= 1
        if not live.without_node:
            record.started = self._now
            self._started += 1
            heapq.heappush(self._ends, (self._now + record.job.duration, self._started, live))

    def _delete(self, live: _LiveJob) -> None:
        for uid in live.answers:
            del self._jobs[uid]
            self._simulation.delete(uid)
        if live.record.job.pods > 1:
            self._simulation.delete_group(f"{live.record.job.namespace}/{live.record.job.name}")

    def _explain(self, live: _LiveJob) -> None:
        """Say why a job never started."""
        if live.gated:
            gated = (one for one in live.answers.values() if one.answer is Answer.GATED)
            live.record.text = next(gated).text
        else:
            pods = live.record.job.pods
            live.record.text = sentences.never_placed(live.without_node, pods)


def _sum(live: _LiveJob) -> dict[str, int]:
    total: dict[str, int] = {}
    for answer in live.answers.values():
        for card, amount in answer.cards.items():
            total[card] = total.get(card, 0) + amount
    return total


def _group(job: TraceJob) -> PodGroup:
    return PodGroup(
        metadata=GroupMeta(name=job.name, namespace=job.namespace),
        spec=GroupSpec(
            queue=job.queue, min_member=job.pods, priority_class_name=job.priority or None
        ),
    )


def _pods(job: TraceJob, ledger: Ledger) -> list[Pod]:
    """As a Job of Kubernetes makes them. All share one specification."""
    names = (name.strip() for name in job.card.split("|"))
    known = (ledger.catalog.resource(name) for name in names)
    resource = next((found for found in known if found), _WHERE_UNKNOWN)
    compute: ResourceList = {
        name: text for name, text in ((CPU, job.cpu), (MEMORY, job.memory)) if text
    }
    resources = Resources(limits={resource: str(job.cards)}, requests=compute)
    spec = PodSpec(
        containers=(Container(resources=resources),), priority_class_name=job.priority or None
    )
    gang = job.pods > 1
    notes = PodAnnotations(
        card_name=job.card,
        queue=None if gang else job.queue,
        group=job.name if gang else None,
    )
    owner = Owner(api_version="batch/v1", kind="Job", name=job.name, controller=True)
    return [
        Pod(
            metadata=PodMeta(
                name=f"{job.name}-{number}",
                namespace=job.namespace,
                annotations=notes,
                owner_references=(owner,),
            ),
            spec=spec,
        )
        for number in range(job.pods)
    ]
