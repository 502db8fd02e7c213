"""Very many queues that share oversold cards: to read them first, and to change one quota.

The whole time, and the longest step of what gives way between steps: the loop is held up for no
longer than that. Processor time, without the collector's pauses: on a machine that is shared a
process is stopped for longer than any step takes.
"""

import gc
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from builders import CARDS, H200, H800, a_ledger, a_queue
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import report as queue_report

from ..figure import Figure, Report, median

FEW: Final = 1_000
MANY: Final = 10_000
_ROUNDS: Final = 3
_STEP: Final = 50.0


def run(report: Report) -> None:
    """Turn by turn, with few and with many queues."""
    gc.collect()
    gc.disable()
    try:
        _run(report)
    finally:
        gc.enable()


def _run(report: Report) -> None:
    reads: dict[int, list[float]] = {FEW: [], MANY: []}
    own: dict[int, list[float]] = {FEW: [], MANY: []}
    worlds: dict[int, Ledger] = {}
    for _ in range(_ROUNDS):
        for number in (FEW, MANY):
            queues = [_written(n) for n in range(number)]
            worlds[number], took = _read(queues)
            reads[number].append(took)
            own[number].append(_read([{f"own-{n}": 1} for n in range(number)])[1])
    for what, found in (("two oversold cards", reads), ("a card of its own each", own)):
        report(median(f"{MANY:,} queues first seen, {what}", found[MANY], "ms"))
        ratios = [m / f for m, f in zip(found[MANY], found[FEW], strict=True)]
        report(median(f"{what}: {MANY:,} queues against {FEW:,}", ratios, "", 15))
    _change(worlds[MANY], report)


def _change(ledger: Ledger, report: Report) -> None:
    """What is due once all have been read, then after one quota has changed."""
    for what, most, whole in (
        ("after all were read", *_steps(ledger.shares.refresh())),
        ("after all were read, by what is asked", *_steps(_settled(ledger))),
    ):
        report(Figure(f"shares {what}", whole, "ms"))
        report(Figure(f"shares {what}: longest step", most, "ms", _STEP))
    ledger.dirty.take_changed()
    seen: list[float] = []
    told: list[float] = []
    longest: list[float] = []
    reports: list[float] = []
    for turn in range(_ROUNDS):
        facts = a_queue("q7").with_quota({H200: 20 + turn, H800: 3}).facts()
        seen.append(_timed(partial(ledger.queue_seen, facts)))
        longest.append(_steps(ledger.shares.refresh())[0])
        told.append(_timed(ledger.dirty.take_changed))
        reports.append(_timed(partial(queue_report, ledger, "q9")))
    report(median("one quota changes: the event", seen, "ms", 5))
    report(median("one quota changes: longest step of the shares", longest, "ms", _STEP))
    report(median("one quota changes: to find who is told", told, "ms", _STEP))
    report(median("one quota changes: the report of one of them", reports, "ms", 5))


def _written(number: int) -> dict[str, int]:
    return {H200: 1 + number % 7, H800: 1 + number % 3}


def _read(quotas: list[dict[str, int]]) -> tuple[Ledger, float]:
    """And how long it takes, milliseconds."""
    facts = [a_queue(f"q{n}").with_quota(quota).facts() for n, quota in enumerate(quotas)]
    ledger = a_ledger(*CARDS)
    began = time.process_time()
    for one in facts:
        ledger.queue_seen(one)
    return ledger, (time.process_time() - began) * 1e3


def _settled(ledger: Ledger) -> Iterator[None]:
    while ledger.shares.settle([H200, H800]):
        yield


def _steps(steps: Iterator[None]) -> tuple[float, float]:
    """The longest of them, and all, milliseconds."""
    longest, began = 0.0, time.process_time()
    before = began
    for _ in steps:
        now = time.process_time()
        longest, before = max(longest, now - before), now
    return longest * 1e3, (time.process_time() - began) * 1e3


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e3
