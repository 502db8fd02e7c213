"""The extender on a real API server: binds per second, and pods through a real kube-scheduler.

On one plane with one replica. Bounds are on ratios within the run; rates alone say little about
another machine.
"""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Final

from cardquota_dev.testing import Cluster, running_plane

from ..figure import Figure, Report
from ..processes.bind_rates import bind_rates
from ..processes.card_nodes import add_nodes, card_node
from ..processes.crowd import Crowd
from ..processes.extender_client import ExtenderClient
from ..processes.scheduled_rates import scheduled_rates

_NODES: Final = 100


def run(report: Report) -> None:
    """Report rates, and ratios within the run."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = folder / "node.json"
        first.write_text(json.dumps(card_node(0)))
        config = folder / "config.yaml"
        config.write_text("extender: {memoryNeedsQuota: false}\n")
        plane = folder / "plane"
        with running_plane(plane, nodes=(first,), extender=True, config=config) as cluster:
            asyncio.run(_measure(cluster, report))
    report(Figure("load average after", os.getloadavg()[0], ""))


async def _measure(cluster: Cluster, report: Report) -> None:
    async with Crowd(cluster) as crowd, ExtenderClient(cluster) as extender:
        await add_nodes(crowd, 1, _NODES)
        await scheduled_rates(cluster, crowd, extender, _NODES, report)
        await bind_rates(cluster, crowd, extender, _NODES, report)
