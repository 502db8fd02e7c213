"""The real node of a plane, and the pods on it: real containers, which print their environment."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardquota.quota import vocabulary as v
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.process import Process
from cardquota_dev.plane.real_node.inventory import CARDS, PRODUCT, inventory_file, write_inventory
from cardquota_dev.plane.real_node.names import IMAGE, MARK, NODE
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, Object, ask, credentials

SIZES = tuple(int(card["memory"]) for card in CARDS)
ALL = sum(SIZES)
ROW = f"{PRODUCT}/gpu-mem"
AGENT, KUBELET = "cardquota-node", "kubelet"


@dataclass(frozen=True)
class RealNode:
    """The node, and the pods of one namespace on it."""

    plane: Cluster
    namespace: str
    queue: str = ""
    """Whose quota the pods have. Empty: they are exempt, and bound by hand."""

    # --- pods ----

    def create(self, name: str, amount: int) -> None:
        """A pod that asks for so many MiB: in the queue, else bound to the node by hand."""
        notes = {v.QUEUE_NAME: self.queue} if self.queue else {}
        body = {
            "metadata": {"name": name, "annotations": notes},
            "spec": {
                "hostNetwork": True,
                "terminationGracePeriodSeconds": 0,
                "enableServiceLinks": False,
                "automountServiceAccountToken": False,
                "tolerations": [{"key": MARK, "operator": "Exists"}],
                "containers": [
                    {
                        "name": "main",
                        "image": IMAGE,
                        "resources": {"limits": {v.GPU_MEMORY: str(amount)}},
                    }
                ],
                **({} if self.queue else {"nodeName": NODE}),
            },
        }
        reply = ask(self.plane, "POST", self._pods(), body)
        assert reply.ok, reply.message

    def runs(self, *names: str) -> list[Object]:
        """These pods, once all of them run."""

        def running() -> list[Object] | None:
            found = {one["metadata"]["name"]: one for one in self.pods()}
            return (
                [found[name] for name in names]
                if all(found[name]["status"]["phase"] == "Running" for name in names)
                else None
            )

        return eventually(running, f"{', '.join(names)} run", every=0.2)

    def pods(self) -> list[Object]:
        return list(ask(self.plane, "GET", self._pods()).body["items"])

    def pod(self, name: str) -> Object:
        return ask(self.plane, "GET", self._pods(name)).body

    def place(self, name: str, card: int, amount: int) -> None:
        """Write on a pod which card it has, as the extender does when it binds one."""
        given = {v.GPU_MEMORY_CARD: str(card), v.GPU_MEMORY_OF_POD: str(amount)}
        reply = ask(
            self.plane,
            "PATCH",
            self._pods(name),
            {"metadata": {"annotations": given}},
            content_type=MERGE,
            as_user="system:serviceaccount:cardquota-system:cardquota",
            as_groups=["system:masters"],
        )
        assert reply.ok, reply.message

    def delete_all(self) -> None:
        """Return when none is left."""
        ask(self.plane, "DELETE", self._pods())
        eventually(lambda: not self.pods(), "no pods", every=0.2)

    def environment(self, name: str) -> dict[str, str]:
        """What the container has printed, once it has."""

        def printed() -> dict[str, str]:
            answer = self.plane.admin.rest_client.pool_manager.request(
                "GET",
                f"{self.plane.admin.configuration.host}{self._pods(name)}/log",
                headers=credentials(self.plane),
            )
            lines = answer.data.decode().splitlines() if answer.status == 200 else []
            return dict(line.split("=", 1) for line in lines if "=" in line)

        return eventually(printed, f"a log of {name}")

    def card_seen(self, name: str) -> str:
        """The index of the card that the container has."""
        return self.environment(name)[v.GPU_MEMORY_CARD]

    def card_chosen(self, name: str) -> str:
        """The index of the card on the pod."""
        return str(self.pod(name)["metadata"]["annotations"][v.GPU_MEMORY_CARD])

    def container(self, name: str) -> Object:
        """The status of the pod's container; empty while there is none."""
        found = self.pod(name)["status"].get("containerStatuses") or [{}]
        return dict(found[0])

    def health_of_devices(self, name: str) -> set[str]:
        """What the kubelet says of the devices of a pod's container."""
        found = self.container(name).get("allocatedResourcesStatus") or ()
        return {one["health"] for row in found for one in row["resources"]}

    def ended(self, name: str) -> Object | None:
        """The status of a pod that will not run any more."""
        status = dict(self.pod(name)["status"])
        return status if status["phase"] in ("Failed", "Succeeded") else None

    def waiting(self, name: str) -> str:
        """Why the pod's container does not start. Empty while it is not known."""
        return str(self.container(name).get("state", {}).get("waiting", {}).get("message", ""))

    def _pods(self, name: str = "") -> str:
        pods = f"/api/v1/namespaces/{self.namespace}/pods"
        return f"{pods}/{name}" if name else pods

    # --- the queue ----

    def allocated(self) -> int:
        """MiB that the queue's pods hold."""
        path = f"/apis/scheduling.volcano.sh/v1beta1/queues/{self.queue}"
        rows = ask(self.plane, "GET", path).body.get("status", {}).get("cards", ())
        return sum(int(row["allocated"]) for row in rows if row["name"] == ROW)

    def until_allocated(self, amount: int) -> None:
        """Wait until its pods hold so much. Where they do not, it is shown how they stand."""
        try:
            eventually(lambda: self.allocated() == amount, f"the queue holds {amount} MiB")
        except AssertionError as error:
            error.add_note(json.dumps([(one["spec"], one["status"]) for one in self.pods()]))
            raise

    # --- the node, its cards and its processes ----

    def allocatable(self) -> int:
        """MiB that the kubelet offers."""
        return int(self.node()["status"]["allocatable"].get(v.GPU_MEMORY, "0"))

    def node(self) -> Object:
        return ask(self.plane, "GET", f"/api/v1/nodes/{NODE}").body

    def offers(self, amount: int) -> None:
        eventually(lambda: self.allocatable() == amount, f"{amount} MiB", every=0.1)

    def write_cards(self, *changes: dict[str, Any]) -> None:
        """Write the file of cards, each with its changes."""
        changed = [card | change for card, change in zip(CARDS, changes, strict=True)]
        write_inventory(self.folder, tuple(changed))

    def hide_cards(self) -> None:
        """An agent that starts now finds none, and waits for them."""
        inventory_file(self.folder).unlink()

    @property
    def folder(self) -> Folder:
        assert self.plane.folder is not None
        return self.plane.folder

    def process(self, name: str) -> Process:
        return self.plane.state.process(name)

    def kill(self, name: str) -> None:
        """Kill a process. Returns when the plane has started it again."""
        before = self.process(name)
        os.kill(before.pid, signal.SIGKILL)
        eventually(lambda: self.process(name).pid != before.pid, f"another {name}")

    def registered(self) -> int:
        """How often the agent has offered its memory to a kubelet."""
        log: Path = self.folder.log(AGENT)
        return log.read_text().count(f"{v.GPU_MEMORY} is registered")


@contextmanager
def queue_on_node(plane: Cluster, namespace: str) -> Iterator[RealNode]:
    """A queue of the namespace's name, with all memory. Its pods and it go afterwards."""
    queues = "/apis/scheduling.volcano.sh/v1beta1/queues"
    body = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {
            "name": namespace,
            "annotations": {v.QUOTA: json.dumps({ROW: ALL})},
        },
        "spec": {},
    }
    reply = ask(plane, "POST", queues, body)
    assert reply.ok, reply.message
    node = RealNode(plane, namespace, queue=namespace)
    try:
        yield node
    finally:
        node.delete_all()
        ask(plane, "DELETE", f"{queues}/{namespace}")
