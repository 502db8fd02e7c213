"""Jobs of Volcano that are written, and what is said of them."""

from builders import CARDS, H200, Body, a_group, a_ledger, a_pod, a_queue, a_volcano_job
from builders.pod import PodBody
from builders.volcano_job import VolcanoJobBody
from cardquota.quota.decisions.volcano_jobs.job_write import JobVerdict, judge_job_write
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.steps import to_its_end

RED = a_queue("red").with_quota({H200: 3})
VOLCANO = "batch.volcano.sh/v1alpha1"


def a_template(cards: int = 1, card: str | None = H200) -> PodBody:
    return a_pod().naming(card).asking_for(cards)


PLAIN = a_pod().with_cpu("1")
"""A pod without cards."""


def a_job(
    pods: int = 2, template: PodBody | None = None, least: int | None = None
) -> VolcanoJobBody:
    """One task of so many pods, which start together unless told otherwise."""
    job = a_volcano_job().in_queue("red")
    return job.with_task("worker", pods, template or a_template(), least)


def a_world(*things: Body, **settings: bool) -> Ledger:
    return a_ledger(*CARDS, *(things or (RED,)), **settings)


def write(
    job: VolcanoJobBody, *things: Body, before: VolcanoJobBody | None = None, **settings: bool
) -> JobVerdict:
    """The verdict where these things are; a queue `red` with three cards if none are named."""
    return write_in(a_world(*things, **settings), job, before)


def write_in(
    ledger: Ledger, job: VolcanoJobBody, before: VolcanoJobBody | None = None
) -> JobVerdict:
    old = before.written if before is not None else None
    return to_its_end(judge_job_write(ledger, job.written(), old, namespace="team"))


def of_the_job(number: int = 0, task: str = "worker") -> PodBody:
    """A pod that Volcano has made for it, at its gate."""
    name = f"train-{task}-{number}"
    return (
        a_pod(name)
        .with_uid(name)
        .in_namespace("team")
        .in_queue("red")
        .in_group("train-uid-train")
        .of_task(task)
        .naming(H200)
        .asking_for(1)
        .owned_by("Job", VOLCANO, "train")
        .gated()
    )


def holding(number: int = 0, task: str = "worker") -> PodBody:
    """The same, bound."""
    return of_the_job(number, task).stamped("red", {H200: 1}).on_node("h200-a")


GROUP = a_group("train-uid-train").in_namespace("team").in_queue("red")
"""The pod group of the Job, once Volcano has made it."""
