"""A node of the test's own, for a card that nobody else uses or for labels that nobody should."""

from collections.abc import Iterator
from contextlib import contextmanager

from builders.node import NodeBody

from .asking import ask
from .team import Team


@contextmanager
def a_node_of(team: Team, node: NodeBody) -> Iterator[None]:
    """The node for the block. It runs pods; taken away, it leaves those that ran there."""
    body = team.wire(node)
    amounts = {"pods": "10", **body.get("status", {}).get("allocatable", {})}
    body["status"] = {"capacity": amounts, "allocatable": amounts}
    assert (reply := ask(team.cluster, "POST", "/api/v1/nodes", body)).ok, reply
    try:
        yield
    finally:
        assert ask(team.cluster, "DELETE", f"/api/v1/nodes/{node.name}").ok
