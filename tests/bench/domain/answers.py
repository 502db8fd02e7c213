"""What the answer about a queue, and about a pod, costs, with 1,000 queues and 20,000 pods.

The pods evenly over the queues, or all in one of them, also where all that wait ask for something
else; half of them run and half wait, ten of each workload. Processor time of a whole answer, and of
its longest step: between two steps it gives way. Of a queue the most holders and waiters are told.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from builders import CARDS, H200, Body, a_ledger, a_pod, a_queue
from cardquota.api.reviews import LARGEST_LIMIT
from cardquota.loop import BOUND
from cardquota.quota import Steps
from cardquota.quota.answers import AskedWorkload, explain, queue_answer
from cardquota.quota.ledger import Ledger

from ..figure import Figure, Report, median

PODS: Final = 20_000
FEWER: Final = 2_000
QUEUES: Final = 1_000
SECOND: Final = 1_000.0
"""Milliseconds in which whoever asks has the answer."""
_OF_WORKLOAD: Final = 10
_ROUNDS: Final = 5
_NOW: Final = "2026-02-01T00:00:00Z"

Question = Callable[[], Steps[object]]


def run(report: Report) -> None:
    """Four ledgers; ratios of ten times the pods, all in one queue."""
    clusters = {
        f"{PODS:,} pods in {QUEUES:,} queues": a_cluster(QUEUES),
        f"{FEWER:,} pods in one queue": a_cluster(1, FEWER),
        f"{PODS:,} pods in one queue": a_cluster(1),
        f"{PODS:,} pods in one queue, those that wait all unlike": a_cluster(1, alike=False),
    }
    for what, question in _questions().items():
        found = []
        for where, ledger in clusters.items():
            times, longest = _asked(question(ledger))
            report(median(f"{what}, {where}", times, "ms", SECOND))
            report(Figure(f"{what}, {where}: the longest step", longest, "ms", BOUND * 1000))
            found.append(times)
        ratios = [b / a for a, b in zip(found[1], found[2], strict=True)]
        report(median(f"{what}, one queue: {PODS:,} against {FEWER:,} pods", ratios, "", 20.0))


def _questions() -> dict[str, Callable[[Ledger], Question]]:
    def about(kind: str, name: str) -> Callable[[Ledger], Question]:
        asked = AskedWorkload(kind, "team-0", name)
        return lambda ledger: lambda: explain(ledger, asked, _NOW)

    return {
        "queue": lambda ledger: lambda: queue_answer(ledger, "q0", limit=LARGEST_LIMIT, time=_NOW),
        "explain, a pod that waits": about("Pod", "waiting-0"),
        "explain, a Job of ten that wait": about("Job", "job-waiting-0"),
    }


def _asked(question: Question) -> tuple[list[float], float]:
    """Milliseconds of each answer; and of the longest step, the least of all rounds."""
    times, longest = list[float](), list[float]()
    for _ in range(_ROUNDS):
        steps = list(_steps(question()))
        times.append(1000 * sum(steps))
        longest.append(1000 * max(steps))
    return times, min(longest)


def _steps(steps: Steps[object]) -> Iterator[float]:
    """Seconds of processor time of each step."""
    while True:
        begun = time.thread_time()
        try:
            next(steps)
        except StopIteration as end:
            yield time.thread_time() - begun
            if end.value is None:
                raise RuntimeError("there is no answer") from None
            return
        yield time.thread_time() - begun


def a_cluster(used: int, pods: int = PODS, *, alike: bool = True) -> Ledger:
    """1,000 queues, of which so many are `used`: each is full. Queues have a namespace each.
    `alike`: whether all that wait ask for the same cpu.
    """
    held = pods // 2 // used
    queues: list[Body] = [
        a_queue(f"q{n}").with_quota({H200: held if n < used else 1}) for n in range(QUEUES)
    ]
    ledger = a_ledger(*CARDS, *queues)
    pod = a_pod("pod").in_queue("q0").naming(H200).asking_for(1).owned_by("Job")
    running = pod.stamped("q0", {H200: 1}).on_node("h200-a")
    for body, what in ((running, "running"), (pod.gated(), "waiting")):
        facts = body.facts()
        for number in range(pods // 2):
            if what == "waiting" and not alike:
                facts = body.with_cpu(f"{1 + number}m").facts()
            queue = number % used
            maker = number // used // _OF_WORKLOAD
            stamp = facts.stamp._replace(queue=f"q{queue}") if facts.stamp else None
            name = f"{what}-{number // used}"
            ledger.pod_seen(
                replace(
                    facts,
                    uid=f"u-{what}-{number}",
                    name=name,
                    namespace=f"team-{queue}",
                    own_queue=f"q{queue}",
                    stamp=stamp,
                    controller_name=f"job-{what}-{maker}",
                )
            )
    return ledger
