"""Nodes that share their cards by memory, and pods that ask for some, for one test each."""

import json
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ApiReply, Object, ask

CARD = 16276
"""MiB of a card of these tests."""
PLUGIN = "system:serviceaccount:kube-system:gpushare-device-plugin"
"""Who writes as a device plugin does."""
PLUGINS_GROUPS = ("system:serviceaccounts:kube-system", "system:masters")
"""The second for its rights."""


@dataclass(frozen=True)
class Shelf:
    """Nodes that only the pods of this test can go to."""

    plane: Cluster
    namespace: str

    def node(self, name: str, cards: int = 2, *, whole: int = 0) -> str:
        """A node with so many cards, and `whole` ones beside; its name in the cluster."""
        full = f"{self.namespace}-{name}"
        amounts = {
            "cpu": "64",
            "memory": "64Gi",
            "pods": "200",
            v.GPU_MEMORY: str(cards * CARD),
            v.GPU_COUNT: str(cards),
            "nvidia.com/gpu": str(whole),
        }
        body = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": full, "labels": {"shelf": self.namespace, "node": full}},
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        reply = ask(self.plane, "POST", "/api/v1/nodes", body)
        assert reply.ok, reply.message

        def ready() -> bool:
            found = ask(self.plane, "GET", f"/api/v1/nodes/{full}").body
            return not found["spec"].get("taints") and bool(call(self.plane, f"/inspect/{full}"))

        eventually(ready, f"{full} takes pods")
        return full

    def drop(self, full: str) -> None:
        ask(self.plane, "DELETE", f"/api/v1/nodes/{full}")

    def pod(self, name: str, memory: int, *, node: str = "", **metadata: Any) -> Object:
        """Create a pod that asks for memory of one card, on this node or on any of the shelf."""
        selector = {"node": node} if node else {"shelf": self.namespace}
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, **metadata},
            "spec": {
                "nodeSelector": selector,
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {"name": "c", "image": "i", "resources": {"limits": {v.GPU_MEMORY: memory}}}
                ],
            },
        }
        reply = ask(self.plane, "POST", self.pods, body)
        assert reply.ok, reply.message
        return reply.body

    @property
    def pods(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def read(self, name: str) -> Object:
        return ask(self.plane, "GET", f"{self.pods}/{name}").body

    def change(self, name: str, body: Object, **options: Any) -> ApiReply:
        return ask(self.plane, "PATCH", f"{self.pods}/{name}", body, content_type=MERGE, **options)

    def remove(self, name: str) -> None:
        ask(self.plane, "DELETE", f"{self.pods}/{name}?gracePeriodSeconds=0")

    def placed(self, name: str) -> tuple[str, str]:
        """The node and the card of a pod, once it has them."""

        def found() -> tuple[str, str] | None:
            pod = self.read(name)
            notes = pod["metadata"].get("annotations", {})
            if not pod["spec"].get("nodeName"):
                return None
            return pod["spec"]["nodeName"], notes.get(v.GPU_MEMORY_CARD, "")

        return eventually(found, f"{name} is bound")

    def holds(self, name: str, memory: int, node: str, card: int) -> None:
        """A pod that holds memory of this very card, as an earlier binder of ours left it."""
        self.pod(name, memory, node=node)
        assert self.placed(name) == (node, str(card))

    def refused(self, name: str, *why: str) -> None:
        """kube-scheduler finds no node, and its event has these words."""
        about = f"involvedObject.name={name}"
        path = f"/api/v1/namespaces/{self.namespace}/events?fieldSelector={about}"

        def told() -> bool:
            events = ask(self.plane, "GET", path).body["items"]
            texts = [one["message"] for one in events if one["reason"] == "FailedScheduling"]
            return any(all(words in text for words in why) for text in texts)

        eventually(told, f"{name} is refused: {why}")

    def inspect(self, node: str) -> Any:
        """A node's cards, as the extender shows them."""
        return call(self.plane, f"/inspect/{node}")

    def used(self, node: str) -> list[int]:
        return [card["used"] for card in self.inspect(node)["cards"]]


def call(plane: Cluster, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """What the extender answers to a caller with the scheduler's certificate; None for a 404."""
    assert plane.folder is not None
    folder = plane.folder.extender
    tls = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    data = None if body is None else json.dumps(body).encode()
    try:
        url = address(plane) + path
        with urllib.request.urlopen(url, data, timeout=10, context=tls) as answer:  # noqa: S310
            return json.loads(answer.read())
    except HTTPError as error:
        with error:
            if error.code != 404:
                raise
        return None


def address(plane: Cluster) -> str:
    """Where the extender is."""
    assert plane.folder is not None
    return str(json.loads((plane.folder.path / "state.json").read_text())["extender"])


@contextmanager
def a_shelf(plane: Cluster, namespace: str) -> Iterator[Shelf]:
    shelf = Shelf(plane, namespace)
    try:
        yield shelf
    finally:
        nodes = f"/api/v1/nodes?labelSelector=shelf%3D{namespace}"
        ask(plane, "DELETE", f"{shelf.pods}?gracePeriodSeconds=0")
        ask(plane, "DELETE", nodes)
