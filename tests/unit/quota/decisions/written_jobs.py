"""Jobs of Volcano that are written, and what is said of them."""

from builders import CARDS, H200, Body, a_ledger, a_pod, a_queue, a_volcano_job
from builders.pod import PodBody
from builders.volcano_job import VolcanoJobBody
from cardquota.quota import Verdict, to_its_end
from cardquota.quota.decisions.volcano import judge_job
from cardquota.quota.ledger import Ledger

RED = a_queue("red").with_quota({H200: 3})


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


def write(job: VolcanoJobBody, *things: Body, **settings: bool) -> Verdict:
    """The verdict where these things are; a queue `red` with three cards if none are named."""
    return write_in(a_world(*things, **settings), job)


def write_in(ledger: Ledger, job: VolcanoJobBody) -> Verdict:
    return to_its_end(judge_job(ledger, job.written(), namespace="team"))
