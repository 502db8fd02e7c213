"""A node of a test's own on the plane with the product, gone when its test is done."""

from collections.abc import Iterator
from contextlib import contextmanager

from builders.node import NodeBody

from .asking import ask
from .team import Team


@contextmanager
def a_node_of(team: Team, node: NodeBody) -> Iterator[None]:
    body = team.wire(node)
    amounts = {"pods": "10", **body.get("status", {}).get("allocatable", {})}
    body["status"] = {"capacity": amounts, "allocatable": amounts}
    assert (reply := ask(team.cluster, "POST", "/api/v1/nodes", body)).ok, reply
    try:
        yield
    finally:
        gone = ask(team.cluster, "DELETE", f"/api/v1/nodes/{node.name}")
        assert gone.ok or gone.code == 404
