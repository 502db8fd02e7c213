"""Made-up traces: decided by the seed, and plausible."""

import itertools
from statistics import median

from cardquota.cli.files.inventory import Inventory
from cardquota.cli.simulate.simulation import Simulation
from cardquota.cli.simulate.timeline.trace_generator import generated_trace
from cardquota.cli.simulate.timeline.trace_job import TraceJob
from cardquota.settings import Settings

from .timelines import Read, node, queue

NODES = "".join(node(f"h-{i}", 8) for i in range(8)) + "".join(
    node(f"a-{i}", 4, "NVIDIA-A100") for i in range(4)
)
QUEUES = queue("one", '{"NVIDIA-H200": 40, "NVIDIA-A100": 16}') + queue(
    "two",
    '{"NVIDIA-H200": 24, "GONE": 4, "NONE": 0}',
    notes=""", volcano.sh/card.namespaces: '["*-x", "team"]'""",
)
CLASSES = """
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}
"""


def made(inventory: Inventory, jobs: int = 600, seed: int = 1) -> list[TraceJob]:
    simulation = Simulation(Settings.model_construct(), inventory)
    simulation.see_cluster()
    return generated_trace(inventory, simulation.ledger, jobs=jobs, seed=seed)


def test_equal_for_equal_seeds_and_no_others(read: Read) -> None:
    inventory = read(NODES + QUEUES)
    assert made(inventory) == made(inventory)
    assert made(inventory) != made(inventory, seed=2)


def test_every_queue_and_card_has_jobs_where_it_may(read: Read) -> None:
    jobs = made(read(NODES + QUEUES), jobs=4)
    assert {(job.queue, job.card) for job in jobs} == {
        ("one", "NVIDIA-H200"),
        ("one", "NVIDIA-A100"),
        ("two", "NVIDIA-H200"),
        ("two", "GONE"),
    }
    assert {(job.queue, job.namespace) for job in jobs} == {("one", "default"), ("two", "team")}


def test_plausible(read: Read) -> None:
    jobs = made(read(NODES + QUEUES + CLASSES), jobs=2_000)
    assert len({job.name for job in jobs}) == 2_000
    assert [job.arrival for job in jobs] == sorted(job.arrival for job in jobs)
    assert jobs[0].arrival == 0
    assert all(job.cards <= 8 for job in jobs)
    durations = sorted(job.duration for job in jobs)
    assert 600 < median(durations) < 5_400
    assert sum(durations[-200:]) > sum(durations) / 3, (
        "a tenth of the jobs holds a third of the time"
    )
    sizes = sorted(job.all_cards for job in jobs)
    assert median(sizes) <= 2
    assert sizes[-1] >= 16
    assert any(job.pods > 1 for job in jobs)
    assert {job.priority for job in jobs} == {"", "high"}
    gaps = [after.arrival - job.arrival for job, after in itertools.pairwise(jobs)]
    assert median(gaps) < sum(gaps) / len(gaps) / 2, "they come in bursts"


def test_some_ask_for_more_than_they_may_ever_have(read: Read) -> None:
    jobs = made(read(node("n", 8) + queue("a", '{"NVIDIA-H200": 8}')), jobs=2_000)
    assert 0 < sum(job.all_cards > 8 for job in jobs) < 100


def test_without_quotas_there_is_nothing_to_make(read: Read) -> None:
    assert made(read(node("n", 8))) == []
    assert made(read(NODES + QUEUES), jobs=0) == []
