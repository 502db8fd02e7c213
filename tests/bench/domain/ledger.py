"""What one pod event costs the ledger, with few and with many pods known.

Time is of `Ledger.pod_seen` alone; reading the pod off the wire is shown beside it.
"""

import gc
import time
from collections.abc import Callable

import msgspec

from builders import CARDS, H200, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects import Pod
from cardquota.quota.pods import PodFacts
from cardquota.quota.pods.pod_facts import pod_facts

from ..figure import Report, median

FEW, MANY = 1_000, 100_000
QUEUES = 100
ROUNDS, SAMPLE = 5, 1_000
_decode = msgspec.json.Decoder(Pod).decode


def run(report: Report) -> None:
    """Costs with 1,000 and with 100,000 pods, turn by turn."""
    few, many = _ledger(FEW), _ledger(MANY)
    wire = [msgspec.json.encode(_running(n).body) for n in range(SAMPLE)]
    report(median("off the wire", _rounds(lambda: _read(wire)), "us"))
    for what, bound, prepared in (
        ("no change", 5.0, _unchanged),
        ("a pod that runs, first seen", 40.0, _newcomers),
        ("a pod at the gate, first seen", 40.0, _waiters),
        ("a pod is bound", 40.0, _bound),
    ):
        costs: dict[int, list[float]] = {FEW: [], MANY: []}
        for turn in range(ROUNDS):
            for ledger, size in ((few, FEW), (many, MANY)):
                events, undo = prepared(ledger, turn)
                costs[size].append(_timed(ledger, events))
                for uid in undo:
                    ledger.pod_gone(uid)
        report(median(what, costs[MANY], "us", bound))
        ratios = [m / f for m, f in zip(costs[MANY], costs[FEW], strict=True)]
        report(median(f"{what}: {MANY:,} pods against {FEW:,}", ratios, "", 1.3))


def _ledger(size: int) -> Ledger:
    queues = [a_queue(f"q{n}").with_quota({H200: 10**9}) for n in range(QUEUES)]
    ledger = a_ledger(*CARDS, *queues)
    for number in range(size):
        ledger.pod_seen(_running(number).facts())
    return ledger


def _running(number: int) -> PodBody:
    queue = f"q{number % QUEUES}"
    pod = a_pod(f"p{number}").in_queue(queue).naming(H200).asking_for(1).with_cpu("4")
    return pod.stamped(queue, {H200: 1}).on_node("h200-a")


def _gated(number: int) -> PodBody:
    queue = f"q{number % QUEUES}"
    return a_pod(f"new-{number}").in_queue(queue).naming(H200).asking_for(1).with_cpu("4").gated()


Prepared = tuple[list[PodFacts], list[str]]
"""The events, and the uids of pods that are gone again afterwards."""


def _unchanged(_: Ledger, turn: int) -> Prepared:
    return [_running(n).at_revision(turn + 2).facts() for n in range(SAMPLE)], []


def _newcomers(_: Ledger, turn: int) -> Prepared:
    first = 10_000_000 + turn * SAMPLE
    pods = [_running(n) for n in range(first, first + SAMPLE)]
    return [pod.facts() for pod in pods], [pod.uid for pod in pods]


def _waiters(_: Ledger, turn: int) -> Prepared:
    first = 10_000_000 + turn * SAMPLE
    pods = [_gated(n) for n in range(first, first + SAMPLE)]
    return [pod.facts() for pod in pods], [pod.uid for pod in pods]


def _bound(ledger: Ledger, turn: int) -> Prepared:
    first = 10_000_000 + turn * SAMPLE
    pods = [_running(n).with_uid(f"bound-{n}") for n in range(first, first + SAMPLE)]
    for pod in pods:
        ledger.pod_seen(pod.on_node("").facts())
    return [pod.at_revision(2).facts() for pod in pods], [pod.uid for pod in pods]


def _tell(ledger: Ledger, events: list[PodFacts]) -> None:
    for facts in events:
        ledger.pod_seen(facts)


def _timed(ledger: Ledger, events: list[PodFacts]) -> float:
    """Microseconds an event, without the collector's pauses."""
    gc.collect()
    gc.disable()
    try:
        begun = time.perf_counter()
        _tell(ledger, events)
        return (time.perf_counter() - begun) / len(events) * 1e6
    finally:
        gc.enable()


def _read(wire: list[bytes]) -> None:
    for line in wire:
        pod_facts(_decode(line))


def _rounds(work: Callable[[], None]) -> list[float]:
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        found.append((time.perf_counter() - begun) / SAMPLE * 1e6)
    return found
