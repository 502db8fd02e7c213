"""Adds up the pods of one workload: in its turn if few are in its namespace, else before it, in
slices.

In slices, pods that change meanwhile may be counted as they were.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from cardquota.loop.time_slice import in_slices
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pod_facts import PodFacts
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

    def of(
        self, queue: str, namespace: str, makers: Makers, template: PodFacts | None = None
    ) -> "PodCount":
        """The pods of these controllers that are charged to the queue. `template`: see
        `WorkloadUsage`.
        """
        return PodCount(self._ledger, self._counting, (queue, namespace), makers, template)


class PodCount:
    """The pods of one workload, to be added up: `before_turn`, then `in_turn`."""

    def __init__(
        self,
        ledger: LedgerReader,
        counting: asyncio.Lock,
        where: tuple[str, str],
        makers: Makers,
        template: PodFacts | None,
    ) -> None:
        """`where`: queue and namespace."""
        self._usage = WorkloadUsage(template)
        self._ledger = ledger
        self._counting = counting
        self._where = where
        self._makers = makers
        self._at_once = ledger.made_pods.number_in(*where) <= FEW

    async def before_turn(self) -> bool:
        """Add them up here if they may be very many. Returns false if that took too long."""
        if self._at_once:
            return True
        try:
            async with asyncio.timeout(COUNT_TIMEOUT), self._counting:
                await in_slices(self._steps())
        except TimeoutError:
            return False
        return True

    def in_turn(self) -> WorkloadUsage:
        """What they hold; added up here if they are few."""
        if self._at_once:
            self._at_once = False
            to_its_end(self._steps())
        return self._usage

    def _steps(self) -> Steps[None]:
        queue, namespace = self._where
        for kind, named in self._makers.items():
            yield from self._ledger.made_pods.each(queue, namespace, kind, named, self._usage.add)
