"""V3, V4: a vote reads the Job's pods as their review does, and as the gate does."""

import json
from typing import Any

import pytest

from builders import H200, H800, Body, a_group, a_node, a_queue, see
from builders.cluster import a_ledger
from cardquota.cluster.api import ApiError
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import EnqueueAsk, EnqueueVotes, JobRequests
from cardquota.quota import JOB_TASKS
from cardquota.quota.decisions import Vote

from .test_enqueue_votes import FixedLeader

pytestmark = pytest.mark.fake_clock

GPU = "nvidia.com/gpu"
UID = "11111111-2222-3333-4444-555555555555"
KEY = f"team/train-{UID}"
ASK = EnqueueAsk("team", f"train-{UID}")
NODES = a_node("a").with_cards(H200, 8), a_node("b").with_cards(H800, 8)
QUEUE = a_queue("red").with_quota({H200: 3})
GROUP = a_group(f"train-{UID}").in_queue("red").of(2).needing({GPU: 2})


def a_task(card: str | None, replicas: int = 2, gpus: int = 1, **task: Any) -> dict[str, Any]:
    limits = {GPU: str(gpus)} if gpus else {"cpu": "1"}
    container = {"name": "c", "resources": {"limits": limits}}
    notes = {"volcano.sh/card.name": card} if card else {}
    template = {"metadata": {"annotations": notes}, "spec": {"containers": [container]}}
    return {"name": f"t{replicas}{card}", "replicas": replicas, "template": template, **task}


class VotingOnJobs:
    """A leader whose API server has one Job."""

    def __init__(self, *tasks: dict[str, Any], things: tuple[Body, ...] = (QUEUE, GROUP)) -> None:
        self.ledger = a_ledger(*NODES, *things, enqueues=False)
        self.notifier = ChangeNotifier()
        self.tasks = list(tasks)
        self.minimum: int | None = None
        self.answer: Exception | None = None
        self.reads: list[str] = []
        jobs = JobRequests(self.ledger, self.notifier, self._read)
        leader: Any = FixedLeader()
        self.votes = EnqueueVotes(
            self.ledger, self.notifier, leader, lambda: True, lambda _, __: None, jobs
        )
        self.votes.begin("term")

    async def _read(self, path: str) -> bytes:
        self.reads.append(path)
        if self.answer is not None:
            raise self.answer
        spec = {"queue": "red", "tasks": self.tasks, "minAvailable": self.minimum}
        return json.dumps({"metadata": {"name": "train", "uid": UID}, "spec": spec}).encode()

    async def vote(self) -> Vote:
        return await self.votes.vote(ASK)

    def asked(self) -> dict[str, int] | None:
        """What waits to be reserved for the group."""
        found = self.ledger.groups[KEY].asked
        return {"|".join(row.cards): row.number for row in found.cards} if found else None


async def test_v3_a_card_without_quota_has_nothing_reserved_of_another_one() -> None:
    """The group says two GPUs, and the quota has one card behind that name: another than theirs."""
    job = VotingOnJobs(a_task(H800))
    assert await job.vote() is Vote.REJECT
    assert job.asked() == {H800: 2}
    assert job.reads == ["/apis/batch.volcano.sh/v1alpha1/namespaces/team/jobs/train"]
    see(job.ledger, QUEUE.with_quota({H200: 3, H800: 2}).at_revision(900))
    await job.vote()
    assert job.asked() == {H800: 2}
    assert len(job.reads) == 2, "by another quota it may mean other cards"


async def test_v3_it_is_read_once_while_nothing_changes() -> None:
    job = VotingOnJobs(a_task(H200))
    for _ in range(3):
        assert await job.vote() is Vote.REJECT, "nothing is written for it here"
    assert (job.asked(), len(job.reads)) == ({H200: 2}, 1)


async def test_v3_pods_without_a_name_may_use_what_the_quota_has() -> None:
    job = VotingOnJobs(a_task(None))
    await job.vote()
    assert job.asked() == {H200: 2}
    both = QUEUE.with_quota({H200: 3, H800: 3}), GROUP
    job = VotingOnJobs(a_task(f"{H800}|{H200}"), things=both)
    await job.vote()
    assert job.asked() == {f"{H800}|{H200}": 2}


async def test_v3_tasks_are_added_up_and_those_without_cards_ask_for_none() -> None:
    both = QUEUE.with_quota({H200: 9, H800: 9}), GROUP.of(6)
    tasks = a_task(H200, 2, 2), a_task(H800, 3), a_task(None, 1, 0)
    job = VotingOnJobs(*tasks, things=both)
    await job.vote()
    assert job.asked() == {H200: 4, H800: 3}
    none = VotingOnJobs(a_task(None, 2, 0))
    assert await none.vote() is Vote.ABSTAIN


async def test_v3_where_volcano_may_choose_which_pods_start_nothing_is_reserved() -> None:
    job = VotingOnJobs(a_task(H200, 2, minAvailable=0), a_task(H800, 3, minAvailable=0))
    job.minimum = 2
    assert await job.vote() is Vote.PERMIT
    assert job.asked() is None


@pytest.mark.parametrize("status", [403, 404])
async def test_v3_a_job_that_may_not_be_read_is_left_to_its_gates(status: int) -> None:
    job = VotingOnJobs(a_task(H800))
    job.answer = ApiError(status, "x", "no")
    assert await job.vote() is Vote.PERMIT
    assert job.asked() is None


async def test_v3_one_that_could_not_be_read_is_read_again() -> None:
    job = VotingOnJobs(a_task(H200))
    job.answer = ApiError(500, "x", "later")
    assert await job.vote() is Vote.REJECT
    job.answer = None
    assert await job.vote() is Vote.REJECT
    assert job.asked() == {H200: 2}
    job.votes.begin("other")
    await job.votes.end()
    assert job.asked() is None


async def test_v3_what_stands_on_the_group_counts_and_no_job_is_read() -> None:
    asks = GROUP.asking({H200: 1})
    job = VotingOnJobs(a_task(H800), things=(QUEUE, asks))
    await job.vote()
    assert (job.asked(), job.reads) == ({H200: 1}, [])


async def test_v3_a_template_that_cannot_be_read_is_left_to_its_gates() -> None:
    task = a_task(H200)
    task["template"]["spec"]["containers"][0]["resources"]["limits"][GPU] = "many"
    job = VotingOnJobs(task)
    assert await job.vote() is Vote.PERMIT
    job = VotingOnJobs(*(a_task(H200) for _ in range(JOB_TASKS.most + 1)))
    assert await job.vote() is Vote.PERMIT
