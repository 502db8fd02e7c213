"""The node agent with 8 cards and 40,000 device IDs, the most that a kubelet reads: the list as the
kubelet gets it, how long the agent holds up a container, and what it takes of memory.

A Python kubelet asks (it is not one, and what it answers meanwhile counts); the API server is a
real one.
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

from cardquota_dev.testing import fresh_namespace, running_plane
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
        _start_all(node)
        waited = node.kubelet.waited
        started = list(map(sum, zip(waited["Allocate"], waited["PreStartContainer"], strict=True)))
        for what, seconds, bound in (
            ("which IDs are preferred", waited["GetPreferredAllocation"], None),
            ("Allocate and PreStartContainer", started, 30.0),
        ):
            cuts = statistics.quantiles(seconds, n=100)
            low, high = 1000 * min(seconds), 1000 * max(seconds)
            report(Figure(f"{what}: p50", 1000 * cuts[49], "ms", bound, low=low, high=high))
            report(Figure(f"{what}: p99", 1000 * cuts[98], "ms"))
        report(Figure("memory after 200 containers", _memory(node), "MB", 64))


@contextmanager
def _node(folder: Path) -> Iterator[AgentNode]:
    with (
        running_plane(folder) as plane,
        fresh_namespace(plane, "bench") as namespace,
        agent_node(plane, namespace, "bench-node", sizes=_SIZES) as node,
    ):
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


def _start_all(node: AgentNode) -> None:
    for turn in range(_CONTAINERS):
        name = f"p{turn}"
        node.create(name, {"main": _AMOUNT}, **placed_on(turn % len(_SIZES), _AMOUNT))
        node.admit(name, {"main": _AMOUNT})
        node.start_container(name)
