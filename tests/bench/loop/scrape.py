"""What who waits adds to a scrape of the metrics, with 1,000 queues.

To refresh what queues say, in processor time; then to write it out, which is done in a thread.
"""

import asyncio
import time
from typing import Final

from prometheus_client import generate_latest

from cardquota.control.queues import refresh
from cardquota.metrics import Metrics
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import release_cycle

from ..domain.answers import QUEUES, a_cluster
from ..figure import Report, median

PODS: Final = (2_000, 40_000)
"""Half of them wait."""
_ROUNDS: Final = 7


def run(report: Report) -> None:
    """Ratios: to follow and to lead, which judges for what they wait; many that wait to few."""
    worlds = [a_cluster(QUEUES, pods=number) for number in PODS]
    for ledger in worlds:
        _judge(ledger)
    all_metrics = [Metrics() for _ in worlds]
    times: dict[tuple[int, bool], list[float]] = {}
    written: list[list[float]] = [[] for _ in worlds]
    for _ in range(_ROUNDS):
        for number, (ledger, metrics) in enumerate(zip(worlds, all_metrics, strict=True)):
            for leads in (False, True):
                begun = time.thread_time()
                asyncio.run(refresh(ledger, metrics, leads=leads))
                spent = 1000 * (time.thread_time() - begun)
                times.setdefault((number, leads), []).append(spent)
            begun = time.thread_time()
            generate_latest(metrics.registry)
            written[number].append(1000 * (time.thread_time() - begun))
    for number, pods in enumerate(PODS):
        waiting = f"{pods // 2:,} wait in {QUEUES:,} queues"
        for leads in (False, True):
            who = "the leader" if leads else "another replica"
            report(median(f"refreshed by {who}, {waiting}", times[number, leads], "ms"))
        report(median(f"written out, {waiting}", written[number], "ms"))
    few, many = times[0, True], times[1, True]
    ratios = [b / a for a, b in zip(few, many, strict=True)]
    report(
        median(f"refreshed, {PODS[1] // 2:,} against {PODS[0] // 2:,} who wait", ratios, "", 1.5)
    )
    ratios = [b / a for a, b in zip(times[1, False], times[1, True], strict=True)]
    report(median("refreshed by the leader against another replica", ratios, "", 1.5))


def _judge(ledger: Ledger) -> None:
    for account in list(ledger.accounts()):
        found = ledger.account(account.name)
        if found is not None and found.facts is not None:
            list(release_cycle(ledger, found))
