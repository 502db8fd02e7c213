"""Pods created through the real API server: per second, and how long until they are bound.

Three parts on one plane with one replica: the whole way at saturation, the whole way when idle
(both `whole_way`), and the webhooks alone (`create_rates`), which ends that replica's leadership
and so comes last. Bounds are on ratios and differences within the run; rates alone say little about
another machine.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Final

from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team

from ..figure import Figure, Report
from ..processes.create_rates import create_rates
from ..processes.crowd import Crowd
from ..processes.webhook_variants import webhook_variants
from .whole_way import idle, saturated

_PLENTY: Final = {T1000: 1_000_000}


def run(report: Report) -> None:
    """Report rates (pods per second), their ratios, and latencies (ms)."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, running_plane(Path(folder, "plane")) as cluster:
        add_roomy_nodes(cluster)
        queue = Team(cluster, "default", "bench").has_queue(_PLENTY)
        with webhook_variants(cluster):
            asyncio.run(_measure(cluster, queue, report))


async def _measure(cluster: Cluster, queue: str, report: Report) -> None:
    async with Crowd(cluster) as crowd:
        await saturated(crowd, queue, report)
        await idle(crowd, queue, report)
        await create_rates(cluster, crowd, queue, report)
