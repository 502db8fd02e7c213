"""Nodes of which there are enough for all tests, so that every pod is bound at once."""

from builders import a_node
from cardquota_dev.testing import Cluster, eventually

from .asking import Object, ask

T1000 = "NVIDIA-T1000"
T2000 = "NVIDIA-T2000"


def add_roomy_nodes(cluster: Cluster) -> None:
    """Nodes of T1000 and T2000, ready; they stay."""
    for number, product in enumerate((T1000, T2000)):
        node = a_node(f"roomy-{number}").showing(product)
        amounts = {"cpu": "4000", "memory": "4000Gi", "pods": "2000", "nvidia.com/gpu": "2000"}
        body = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node.name, "labels": node.body["metadata"]["labels"]},
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        assert ask(cluster, "POST", "/api/v1/nodes", body).code in (201, 409)
    for number in range(2):
        path = f"/api/v1/nodes/roomy-{number}"
        eventually(lambda p=path: _usable(ask(cluster, "GET", p).body), f"{path} usable")


def _usable(node: Object) -> bool:
    ready = any(
        c["type"] == "Ready" and c["status"] == "True"
        for c in node.get("status", {}).get("conditions", ())
    )
    return ready and not node["spec"].get("taints")
