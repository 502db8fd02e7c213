"""Nodes that share card memory, as many as wanted, and pods that ask for a part of one card."""

import asyncio
from time import monotonic
from typing import Any, Final

from cardquota.quota import GPU_COUNT, GPU_MEMORY

from .crowd import Crowd, call

CARD: Final = 16_276
"""MiB of one card."""
CARDS: Final = 8
"""Of one node."""
_AMOUNTS: Final = {
    "cpu": "96",
    "memory": "1Ti",
    "pods": "200",
    GPU_MEMORY: str(CARD * CARDS),
    GPU_COUNT: str(CARDS),
}
_NODES: Final = "/api/v1/nodes"
_PATIENCE: Final = 120.0
_POLL: Final = 0.5
_AT_A_TIME: Final = 8


def card_node(number: int) -> dict[str, Any]:
    """A node of eight cards, which kwok keeps ready."""
    name = node_name(number)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": _AMOUNTS, "allocatable": _AMOUNTS},
    }


def node_name(number: int) -> str:
    """The name of a node."""
    return f"shared-{number:04d}"


def memory_pod(name: str, memory: int, scheduler: str) -> dict[str, Any]:
    """A pod that asks for so many MiB of one card, and is left to that scheduler."""
    limits = {"limits": {GPU_MEMORY: str(memory)}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "c", "image": "i", "resources": limits}],
        },
    }


async def add_nodes(crowd: Crowd, first: int, end: int) -> None:
    """Create the nodes of these numbers; returns once all that there are can take pods."""
    calls = [call("POST", _NODES, card_node(number)) for number in range(first, end)]
    await crowd.send_all(calls, _AT_A_TIME)
    deadline = monotonic() + _PATIENCE
    while not all(map(_usable, (await crowd.get(_NODES))["items"])):
        if monotonic() > deadline:
            raise RuntimeError("the nodes are not ready")
        await asyncio.sleep(_POLL)


def _usable(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and not node["spec"].get("taints")
