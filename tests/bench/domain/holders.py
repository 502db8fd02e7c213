"""What it adds to a refusal to say who holds the cards, by how many workloads do.

All of them in the namespace of whoever asks; each refusal comes after a change of one of them, as
on a cluster where pods come and go.
"""

import time
from dataclasses import replace
from typing import Final

from builders import CARDS, H200, a_ledger, a_pod, a_queue
from cardquota.quota.decisions import judge_create, with_holders
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts

from ..figure import Report, median

WORKLOADS: Final = (10, 1_000, 20_000)
_ASKED: Final = 200
_ROUNDS: Final = 5
_BEFORE: Final = 5
"""Changes before what is timed: from 64 workloads on, the first question ranks them all."""


def run(report: Report) -> None:
    """Judged, and judged with who holds; ratios of the second to the first, and of most to few."""
    ledgers = [_ledger(number) for number in WORKLOADS]
    plain: list[list[float]] = [[] for _ in ledgers]
    full: list[list[float]] = [[] for _ in ledgers]
    for _ in range(_ROUNDS):
        for number, ledger in enumerate(ledgers):
            judged, held = _refuse(ledger)
            plain[number].append(judged)
            full[number].append(judged + held)
    for number, workloads in enumerate(WORKLOADS):
        what = f"{workloads:,} workloads hold the card"
        report(median(f"a refusal, {what}", plain[number], "us"))
        added = [b - a for a, b in zip(plain[number], full[number], strict=True)]
        report(median(f"who holds, in addition, {what}", added, "us", 500.0))
        ratios = [b / a for a, b in zip(plain[number], full[number], strict=True)]
        report(median(f"with who holds against without, {what}", ratios, "", 3.0))
    most = [b / a for a, b in zip(full[0], full[-1], strict=True)]
    report(median(f"with who holds, {WORKLOADS[-1]:,} against {WORKLOADS[0]}", most, "", 2.0))


def _refuse(ledger: Ledger) -> tuple[float, float]:
    """Microseconds of a refusal, and of who holds."""
    asks = a_pod("asks").in_queue("q").naming(H200).asking_for(2).facts()
    judged = held = 0.0
    for number in range(_BEFORE + _ASKED):
        ledger.pod_seen(_holder("comes-and-goes", number))
        begun = time.thread_time()
        verdict = judge_create(ledger, asks)
        then = time.thread_time()
        text = with_holders(ledger, asks, verdict).text
        if number >= _BEFORE:
            held += time.thread_time() - then
            judged += then - begun
        if "; held by " not in text:
            raise RuntimeError(f"nobody is named: {text}")
        ledger.pod_gone(f"u-comes-and-goes-{number}")
    return judged * 1e6 / _ASKED, held * 1e6 / _ASKED


def _ledger(workloads: int) -> Ledger:
    ledger = a_ledger(*CARDS, a_queue("q").with_quota({H200: workloads + 1}).with_policy("Deny"))
    for number in range(workloads):
        ledger.pod_seen(_holder("holds", number))
    return ledger


_HOLDER: Final = (
    a_pod("holds").in_queue("q").naming(H200).stamped("q", {H200: 1}).on_node("h200-a").facts()
)


def _holder(name: str, number: int) -> PodFacts:
    return replace(_HOLDER, uid=f"u-{name}-{number}", name=f"{name}-{number}")
