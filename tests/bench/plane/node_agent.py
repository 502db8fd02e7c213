"""The node agent with 8 cards and 40,000 device IDs, the most that a kubelet reads: the list as the
kubelet gets it, what a container waits for from its allocation on, and what the agent takes of
memory.

A Python kubelet asks (it is not one, and what it does itself counts); the API server is a real one.
Cards are listed in a file, so the memory is without the driver's library.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cardquota_dev.testing import Cluster, fresh_namespace, running_plane
from integration.node.agent_process import COUNT, MEMORY, AgentNode, agent_node, placed_on

from ..figure import Figure, Report, median

_SIZES: Final = (5_000,) * 8
_CONTAINERS: Final = 200
_AMOUNT: Final = 190
"""MiB of each: 40,000 in all are nearly given out."""
_LISTS: Final = 5


def run(report: Report) -> None:
    """Report the list (ms), allocation to start answered (ms), and memory (MB)."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, _node(Path(folder, "plane")) as node:
        report(Figure("memory with 40,000 IDs offered", _memory(node), "MB", 60))
        report(median("a list of 40,000 IDs, after a change", _lists(node), "ms"))
        cuts = statistics.quantiles(_starts(node), n=100)
        report(Figure("allocation to start answered: p50", cuts[49], "ms"))
        report(Figure("allocation to start answered: p99", cuts[98], "ms", 20))
        report(Figure("memory after 200 containers", _memory(node), "MB", 60))


@contextmanager
def _node(folder: Path) -> Iterator[AgentNode]:
    with running_plane(folder) as plane, fresh_namespace(plane, "bench") as namespace:
        with agent_node(plane, namespace, "bench-node", sizes=_SIZES) as node:
            yield node


def _memory(node: AgentNode) -> float:
    assert node.process is not None
    lines = Path(f"/proc/{node.process.pid}/status").read_text().splitlines()
    (kib,) = [line.split()[1] for line in lines if line.startswith("VmRSS")]
    return int(kib) / 1024


def _lists(node: AgentNode) -> list[float]:
    """Milliseconds from the file that says that a card is sick, or well, to the kubelet's list."""
    times = []
    for turn in range(_LISTS * 2):
        node.cards[7]["problem"] = "" if turn % 2 else "XID 79"
        begun = time.monotonic()
        node.write_cards()
        node.kubelet.waits_for(MEMORY, sum(_SIZES) - (0 if turn % 2 else _SIZES[7]))
        times.append(1000 * (time.monotonic() - begun))
    node.kubelet.waits_for(COUNT, len(_SIZES))
    return times


def _starts(node: AgentNode) -> list[float]:
    times = []
    for turn in range(_CONTAINERS):
        name = f"p{turn}"
        node.create(name, {"main": _AMOUNT}, **placed_on(turn % len(_SIZES), _AMOUNT))
        begun = time.monotonic()
        node.admit(name, {"main": _AMOUNT})
        node.start_container(name)
        times.append(1000 * (time.monotonic() - begun))
    return times
