"""Adds up the pods of one workload: at once if few are in its namespace, else in slices.

In slices, pods that change meanwhile may be counted as they were.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from cardquota.loop.time_slice import in_slices
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pods_by_controller import FEW
from cardquota.quota.pods.workload_usage import WorkloadUsage
from cardquota.quota.steps import Steps, to_its_end

Makers = Mapping[str, Callable[[str], bool]]
"""The controllers of a workload's pods: by kind, which names they have."""

COUNT_TIMEOUT: Final = 1.0
"""Seconds to count the pods of a workload. A write waits no longer for advice; after that there is
none."""


class OwnPods:
    """Counts pods of workloads. One at a time in slices, so that many do not hold up other work."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._counting = asyncio.Lock()

    async def count(self, queue: str, namespace: str, makers: Makers, own: WorkloadUsage) -> bool:
        """Add the pods of these controllers to `own`. Returns whether it finished in time."""
        steps = self._steps(queue, namespace, makers, own)
        if self._ledger.made_pods.number_in(queue, namespace) <= FEW:
            to_its_end(steps)
            return True
        try:
            async with asyncio.timeout(COUNT_TIMEOUT), self._counting:
                await in_slices(steps)
        except TimeoutError:
            return False
        return True

    def _steps(self, queue: str, namespace: str, makers: Makers, own: WorkloadUsage) -> Steps[None]:
        for kind, named in makers.items():
            yield from self._ledger.made_pods.each(queue, namespace, kind, named, own.add)
