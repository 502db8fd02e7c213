"""Adds up the pods of one workload, in slices. Pods that change meanwhile may count as before."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from cardquota.loop.time_slice import in_slices
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.quota.pods.workload_usage import WorkloadUsage

Makers = Mapping[str, Callable[[str], bool]]
"""The controllers of a workload's pods: by kind, which names they have."""

COUNT_TIMEOUT: Final = 1.0
"""Seconds to count the pods of a workload. A write waits no longer for advice; after that there is
none."""


class OwnPods:
    """Counts pods of workloads. One at a time, so that many do not hold up other work."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._counting = asyncio.Lock()

    async def of(
        self, queue: str, namespace: str, makers: Makers, template: PodFacts | None = None
    ) -> WorkloadUsage | None:
        """What the pods of these controllers hold that are charged to the queue. `template`: see
        `WorkloadUsage`. None if counting takes too long.
        """
        usage, pods = WorkloadUsage(template), self._ledger.made_pods
        try:
            async with asyncio.timeout(COUNT_TIMEOUT), self._counting:
                for kind, named in makers.items():
                    await in_slices(pods.each(queue, namespace, kind, named, usage.add))
        except TimeoutError:
            return None
        return usage
