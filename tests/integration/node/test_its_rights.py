"""What the account of the node agent may do: its own node, the pods there, and its annotations."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ask

pytestmark = [pytest.mark.plane, pytest.mark.slow]

RIGHTS = Path(__file__).parents[3] / "manifests/components/node/rbac.yaml"
ACCOUNT = "system:serviceaccount:kube-system:cardquota-node"


class Agent:
    """Whoever has the token of the agent on a node."""

    def __init__(self, plane: Cluster, namespace: str, node: str) -> None:
        self.plane, self.namespace, self.node = plane, namespace, node

    def ask(self, method: str, path: str, body: object = None, node: str | None = None) -> str:
        """What the API server says to the agent; empty: it does it."""
        where, as_node = f"/api/v1/{path}", node or self.node
        kind = MERGE if method == "PATCH" else "application/json"
        reply = ask(
            self.plane, method, where, body, content_type=kind, as_user=ACCOUNT, as_node=as_node
        )
        return "" if reply.ok else reply.message

    def patches(self, kind: str, name: str, body: object, node: str | None = None) -> str:
        folder = f"namespaces/{self.namespace}/pods" if kind == "pod" else "nodes"
        return self.ask("PATCH", f"{folder}/{name}", body, node)


def notes(**found: str | None) -> dict[str, object]:
    return {"metadata": {"annotations": found}}


@pytest.fixture
def agent(plane: Cluster, namespace: str, unique: str) -> Iterator[Agent]:
    node, other = f"{unique}-a", f"{unique}-b"
    plane.apply(RIGHTS.read_text())
    for name in (node, other):
        assert ask(plane, "POST", "/api/v1/nodes", {"metadata": {"name": name}}).ok
        spec = {"nodeName": name, "containers": [{"name": "main", "image": "x"}]}
        body = {"metadata": {"name": f"on-{name}"}, "spec": spec}
        assert ask(plane, "POST", f"/api/v1/namespaces/{namespace}/pods", body).ok
    found = Agent(plane, namespace, node)
    eventually(  # an API server takes a policy up a moment later
        lambda: "own node" in found.patches("node", other, notes(**{v.UNHEALTHY_CARDS: "0"})),
        "a policy in force",
    )
    yield found
    for name in (node, other):
        ask(plane, "DELETE", f"/api/v1/nodes/{name}")


def test_it_writes_what_it_is_for_and_nothing_else(agent: Agent) -> None:
    node, pod = agent.node, f"on-{agent.node}"
    other = node.removesuffix("a") + "b"
    given = notes(**{v.GPU_MEMORY_ASSIGNED: "true"})
    pods = f"namespaces/{agent.namespace}/pods"
    assert agent.ask("GET", f"{pods}/{pod}") == ""
    assert (
        agent.patches("node", node, notes(**{v.CARD_MEMORY: "[1]", v.UNHEALTHY_CARDS: "0"})) == ""
    )
    none = {v.CARD_MEMORY: None, v.UNHEALTHY_CARDS: None}  # as of a node with slots
    assert agent.patches("node", node, notes(**none)) == ""
    assert agent.patches("pod", pod, given) == ""

    its_own = "may change its own node and the pods there alone"
    assert its_own in agent.patches("pod", f"on-{other}", given)
    assert its_own in agent.patches("node", node, notes(**{v.CARD_MEMORY: "[2]"}), node=other)
    for kind, name in (("pod", pod), ("node", node)):
        assert "may change only" in agent.patches(
            kind, name, notes(**{"volcano.sh/card.term": "x"})
        )
        labels = {"metadata": {"labels": {"a": "b"}}}
        assert "may change nothing but annotations" in agent.patches(kind, name, labels)
    taints = {"spec": {"unschedulable": True}}
    assert "may change nothing but annotations" in agent.patches("node", node, taints)
    assert "may change only" in agent.patches("pod", pod, notes(**{v.GPU_MEMORY_CARD: "1"}))
    for refused in (("GET", "nodes"), ("GET", "pods"), ("GET", pods), ("DELETE", f"nodes/{node}")):
        assert "cannot" in agent.ask(*refused)
