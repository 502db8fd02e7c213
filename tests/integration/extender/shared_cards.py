"""Nodes that share card memory, and the pods on them, each test's own on the plane that all share.

A node has a taint of its own and its pods a selector, so that no test gets another one's pods.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import urllib3
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ApiReply, Object, ask

CARD = 16_276
"""MiB of one card."""
SERVICE = "cardquota-extender.cardquota-system.svc"
HOLDER = "example.com/held"
"""A finalizer."""
_KEY = "example.com/cards-of"


@dataclass(frozen=True)
class SharedCards:
    """The nodes of one test, told apart from others by `name`, and the pods that go there."""

    plane: Cluster
    name: str
    namespace: str

    # --- nodes ----

    def node(self, number: int) -> str:
        return f"{self.name}-{number}"

    def add_node(self, number: int, cards: int = 2) -> str:
        """A node that is ready, and that both replicas know."""
        name = self.node(number)
        amounts = {
            "cpu": "96",
            "memory": "1Ti",
            "pods": "200",
            v.GPU_MEMORY: str(CARD * cards),
            v.GPU_COUNT: str(cards),
        }
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {"kubernetes.io/hostname": name, _KEY: self.name},
            },
            "spec": {"taints": [{"key": _KEY, "value": self.name, "effect": "NoSchedule"}]},
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        assert (reply := ask(self.plane, "POST", "/api/v1/nodes", node)).ok, reply.message
        eventually(lambda: all(inspected(self.plane, i, name) for i in (0, 1)), f"{name} known")
        eventually(lambda: self._ready(name), f"{name} ready")
        return name

    def _ready(self, name: str) -> bool:
        """Whether the node has only our taint: a new one has that of a node that is not ready."""
        node = ask(self.plane, "GET", f"/api/v1/nodes/{name}").body
        ready = any(
            one["type"] == "Ready" and one["status"] == "True"
            for one in node["status"].get("conditions", ())
        )
        return ready and len(node["spec"].get("taints", ())) == 1

    def delete_node(self, name: str) -> None:
        assert ask(self.plane, "DELETE", f"/api/v1/nodes/{name}").code in (200, 404)

    # --- pods ----

    def document(self, name: str, memory: int, number: int | None = None, **spec: Any) -> Object:
        """A pod that asks for so many MiB; only on the node of this number, if one is named."""
        selector = {_KEY: self.name}
        if number is not None:
            selector["kubernetes.io/hostname"] = self.node(number)
        limits = {"limits": {v.GPU_MEMORY: str(memory)}}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "nodeSelector": selector,
                "tolerations": [{"key": _KEY, "operator": "Exists"}],
                "containers": [{"name": "c", "image": "i", "resources": limits}],
                **spec,
            },
        }

    def path(self, name: str = "") -> str:
        pods = f"/api/v1/namespaces/{self.namespace}/pods"
        return f"{pods}/{name}" if name else pods

    def create(
        self, name: str, memory: int, number: int | None = None, *, held: bool = False, **spec: Any
    ) -> Object:
        """Create a pod; with a finalizer, if it is held."""
        document = self.document(name, memory, number, **spec)
        if held:
            document["metadata"]["finalizers"] = [HOLDER]
        reply = ask(self.plane, "POST", self.path(), document)
        assert reply.ok, reply.message
        return reply.body

    def bound(self, name: str) -> Object:
        """A pod, once it has a node."""

        def found() -> Object | None:
            body = ask(self.plane, "GET", self.path(name)).body
            return body if body["spec"].get("nodeName") else None

        return eventually(found, f"{name} is bound", every=0.05)

    def placed(self, name: str, memory: int, number: int | None = None, **more: Any) -> int:
        """Create a pod; the card that it has got."""
        self.create(name, memory, number, **more)
        return card_of(self.bound(name))

    def delete(self, name: str) -> None:
        """Delete a pod, and wait until nothing holds it."""
        assert ask(self.plane, "DELETE", self.path(name)).ok
        eventually(lambda: ask(self.plane, "GET", self.path(name)).code == 404, f"{name} is gone")

    def annotate(self, name: str, notes: dict[str, str], **who: Any) -> ApiReply:
        body = {"metadata": {"annotations": notes}}
        return ask(self.plane, "PATCH", self.path(name), body, content_type=MERGE, **who)

    def fill(self, number: int, used: Sequence[int]) -> None:
        """Use so much of each card of an empty node.

        The fullest card that has room gets a pod. So each card is filled up before the next one,
        and what is too much is taken away at the end.
        """
        spare = []
        for card, amount in enumerate(used):
            for kind, memory in (("used", amount), ("rest", CARD - amount)):
                if not memory:
                    continue
                name = f"{kind}-{number}-{card}"
                assert self.placed(name, memory, number) == card
                if kind == "rest":
                    spare.append(name)
        for name in spare:
            self.delete(name)
        eventually(lambda: self.used(number) == list(used), f"node {number} is filled")

    # --- what is seen ----

    def used(self, number: int, replica: int = 0) -> list[int]:
        """MiB used by card, as a replica says."""
        row = inspected(self.plane, replica, self.node(number))
        return [] if row is None else [card["used"] for card in row["cards"]]

    def counted(self, number: int, cards: int = 2) -> list[int]:
        """MiB used by card, as the annotations of the pods that have not ended say."""
        pods = ask(self.plane, "GET", self.path()).body["items"]
        found = Counter[int]()
        for pod in pods:
            ended = pod["status"].get("phase") in ("Succeeded", "Failed")
            if pod["spec"].get("nodeName") == self.node(number) and not ended:
                found[card_of(pod)] += int(pod["metadata"]["annotations"][v.GPU_MEMORY_OF_POD])
        return [found[card] for card in range(cards)]

    def agree(self, number: int, cards: int = 2) -> bool:
        """Whether both replicas say what the annotations say."""
        wanted = self.counted(number, cards)
        return all(self.used(number, replica) == wanted for replica in (0, 1))

    def told(self, kind: str, name: str, reason: str, *words: str) -> str:
        """The text of an event of an object, once there is one that has all these words.

        The scheduler may try a pod before it knows of a change, and then tries it again.
        """

        def found() -> str:
            texts = self.events(kind, name, reason)
            return next((text for text in texts if all(word in text for word in words)), "")

        try:
            return eventually(found, f"an event {reason} of {name}", 30)
        except AssertionError as error:
            raise AssertionError(f"{error}; it was {self.events(kind, name, reason)}") from None

    def events(self, kind: str, name: str, reason: str) -> list[str]:
        """The texts of the events of an object, wherever they stand."""
        where = f"involvedObject.kind={kind},involvedObject.name={name},reason={reason}"
        listed = ask(self.plane, "GET", f"/api/v1/events?fieldSelector={where}")
        return [one["message"] for one in listed.body["items"]]


@contextmanager
def cards_of_a_test(
    plane: Cluster, name: str, namespace: str, nodes: int, cards: int = 2
) -> Iterator[SharedCards]:
    """So many nodes for the block, numbered from 1. The namespace gets into mode `audit`, where
    card memory needs no queue (B9).
    """
    found = SharedCards(plane, name, namespace)
    label = {"metadata": {"labels": {v.NAMESPACE_MODE: v.NAMESPACE_AUDIT}}}
    path = f"/api/v1/namespaces/{namespace}"
    assert ask(plane, "PATCH", path, label, content_type=MERGE).ok
    try:
        for number in range(1, nodes + 1):
            found.add_node(number, cards)
        yield found
    finally:
        for number in range(1, nodes + 1):
            found.delete_node(found.node(number))


def card_of(pod: Object) -> int:
    return int(pod["metadata"]["annotations"][v.GPU_MEMORY_CARD])


# --- calls of the extender ----


def extender_address(plane: Cluster, replica: int) -> str:
    """The URL of one replica's extender."""
    assert plane.folder is not None
    config = yaml.safe_load((plane.folder.path / f"config-{replica}.yaml").read_text())
    return f"https://127.0.0.1:{config['extender']['port']}"


def extender_pool(plane: Cluster, *, known: bool = True) -> urllib3.PoolManager:
    """Calls as the scheduler makes them; without its certificate, if it is not known."""
    assert plane.folder is not None
    files = plane.folder.extender
    return urllib3.PoolManager(
        ca_certs=str(files / "ca.crt"),
        server_hostname=SERVICE,
        assert_hostname=SERVICE,
        retries=False,
        timeout=10.0,
        cert_file=str(files / "tls.crt") if known else None,
        key_file=str(files / "tls.key") if known else None,
    )


def inspected(plane: Cluster, replica: int, node: str) -> Object | None:
    """What a replica says of a node; None if it does not know it."""
    with extender_pool(plane) as pool:
        answer = pool.request("GET", f"{extender_address(plane, replica)}/inspect/{node}")
        return json.loads(answer.data) if answer.status == 200 else None


def post_bind(plane: Cluster, replica: int, pod: Object, node: str, uid: str = "") -> Object:
    """What a replica answers to a bind, with its HTTP status as `status`."""
    meta = pod["metadata"]
    call = {
        "PodName": meta["name"],
        "PodNamespace": meta["namespace"],
        "PodUID": uid or meta["uid"],
        "Node": node,
    }
    with extender_pool(plane) as pool:
        address = extender_address(plane, replica)
        answer = pool.request("POST", f"{address}/scheduler/bind", body=json.dumps(call))
        return {"status": answer.status, **json.loads(answer.data)}


def leader_of(plane: Cluster) -> int:
    """The number of the replica that leads."""
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{v.OPERATOR_NAMESPACE}/leases/{v.LEASE}"
    holder: str = ask(plane, "GET", lease).body["spec"]["holderIdentity"]
    return next(i for i in (0, 1) if holder.startswith(f"cardquota-{i}"))
