"""What a leader's look for stuck things costs (R7), with 20,000 pods of which 1,000 are stuck.

The real `StuckReports` over a ledger; events are taken by nobody. A look is in slices: its
processor time, and the longest stretch between two points at which it gives way.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from builders import CARDS, H200, Body, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.cluster.events.event import ObjectReference
from cardquota.control.reports.stuck_reports import StuckReports
from cardquota.loop.loop_watch import BOUND
from cardquota.loop.timed_selector import TimedSelector
from cardquota.metrics import Metrics
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.moments import seconds_of, time_text
from cardquota.quota.objects.workload import Workload
from cardquota.quota.workloads.workload_facts import workload_facts
from cardquota.runtime.garbage import spare_what_stays
from cardquota.settings import Settings

from ..figure import Figure, Report, median

PODS: Final = 20_000
STUCK: Final = 1_000
QUEUES: Final = 100
_ROUNDS: Final = 5
_NOW: Final = seconds_of("2026-02-01T00:00:00Z") or 0
_LONG_AGO: Final = time_text(_NOW - 86_400)
_JUST_NOW: Final = time_text(_NOW - 1)


def run(report: Report) -> None:
    """Three ledgers, one after the other."""
    logging.getLogger("cardquota").setLevel(logging.ERROR)
    every = f"{STUCK:,} of {PODS:,}"
    _looks(report, f"{every} pods being deleted should be gone", _cluster(_deleted()))
    _looks(report, f"{every} pods at the gate have waited for long", _cluster(_waiting()))
    ledger = _cluster(_deleted())
    _lack_pods(ledger)
    _looks(report, f"the first, and {STUCK:,} workloads of as many templates lack pods", ledger)


def _looks(report: Report, what: str, ledger: Ledger) -> None:
    selector = TimedSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        first, others, stretch = runner.run(_look(ledger))
    report(Figure(f"the first look, which tells of them: {what}", first, "ms"))
    report(median(f"another look: {what}", others, "ms"))
    report(Figure(f"its longest stretch: {what}", stretch, "ms", BOUND * 1000))


async def _look(ledger: Ledger) -> tuple[float, list[float], float]:
    spare_what_stays()  # as in the product
    reports = StuckReports(
        ledger,
        _Nobody(),  # type: ignore[arg-type]
        Metrics(),
        Settings(),
        time.perf_counter,
        wall_clock=lambda: _NOW,
    )
    longest = 0.0
    times = list[float]()
    for _ in range(_ROUNDS + 1):
        task = asyncio.ensure_future(reports.look())
        begun = time.thread_time()
        while not task.done():
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)
        await task
        times.append(1000 * (time.thread_time() - begun))
    return times[0], times[1:], 1000 * longest


class _Nobody:
    """Takes every event."""

    has_room = True

    def record(self, ref: ObjectReference, **_: str) -> None:
        """Nothing is written."""


def _cluster(pods: Iterator[PodBody]) -> Ledger:
    queues: list[Body] = [a_queue(f"q{n}").with_quota({H200: 100_000}) for n in range(QUEUES)]
    ledger = a_ledger(*CARDS, a_namespace("team"), *queues)
    for pod in pods:
        see(ledger, pod)
    for queue in range(QUEUES):  # nobody who waits has room
        see(ledger, a_queue(f"q{queue}").with_quota({H200: 1}))
    return ledger


def _pod(number: int) -> PodBody:
    pod = a_pod(f"pod-{number:05}").with_uid(f"uid-{number:05}").in_queue(f"q{number % QUEUES}")
    return pod.naming(H200).asking_for(2)


def _deleted() -> Iterator[PodBody]:
    for number in range(PODS):
        pod = _pod(number).stamped(f"q{number % QUEUES}", {H200: 2}).on_node("h200-a")
        gone_by = _LONG_AGO if number < STUCK else _JUST_NOW
        yield pod.put(gone_by, "metadata", "deletionTimestamp")


def _waiting() -> Iterator[PodBody]:
    for number in range(PODS):
        created = _LONG_AGO if number < STUCK else _JUST_NOW
        pod = _pod(number).owned_by("Job").gated()
        yield pod.put(created, "metadata", "creationTimestamp")


def _lack_pods(ledger: Ledger) -> None:
    said = 'admission webhook "pods.cardquota.volcano.sh" denied the request: no'
    failure = {"type": "ReplicaFailure", "status": "True", "message": said}
    for number in range(STUCK):
        body = _pod(number).asking_for(3 + number).body
        template = {"metadata": {"annotations": body["metadata"]["annotations"]}}
        template["spec"] = body["spec"]
        name = f"chat-{number}"
        found = {
            "metadata": {"name": name, "namespace": "team", "uid": name},
            "spec": {"replicas": 2, "template": template},
            "status": {"conditions": [{**failure, "lastTransitionTime": _LONG_AGO}]},
        }
        facts = workload_facts("ReplicaSet", msgspec.convert(found, Workload))
        assert facts is not None
        ledger.workloads.see(facts)
