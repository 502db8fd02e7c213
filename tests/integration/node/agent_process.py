"""The agent as a process of its own, beside a Python kubelet."""

import copy
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import urllib3
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from harness.python_kubelet import PythonKubelet
from integration.asking import ask

MEMORY, COUNT = v.GPU_MEMORY, v.GPU_COUNT
_POD = "cardquota-node-x7k2p"
"""Of the agent, as its kubelet lists it."""


class AgentNode:
    def __init__(self, plane: Cluster, namespace: str, name: str, folder: Path) -> None:
        self.plane, self.namespace, self.name, self.folder = plane, namespace, name, folder
        self.kubelet = PythonKubelet(folder)
        self.kubelet.hear_of("kube-system", _POD, "agent")
        self.process: subprocess.Popen[bytes] | None = None
        self.cards: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self._first: tuple[list[dict[str, Any]], dict[str, Any]] = ([], {})
        self._log_read = 0
        self.resource = MEMORY

    # --- the agent ----------------------------------------------------------------------------

    def write_cards(self) -> None:
        unfinished = self.folder / "cards.unfinished"
        unfinished.write_text(yaml.safe_dump({"cards": self.cards}))
        unfinished.replace(self.folder / "cards.yaml")

    def config(self) -> Path:
        settings = {
            "node": self.name,
            "kubeconfig": str(self.plane.kubeconfig),
            "inventory": {"file": "cards.yaml", "interval": 0.1},
            "kubelet": {
                "plugins": str(self.kubelet.plugins),
                "podResources": str(self.kubelet.pod_resources),
                "forgetAfter": 1.0,
            },
            "cdi": str(self.kubelet.cdi),
            "http": {"host": "127.0.0.1", "port": 0},
            **self.settings,
        }
        config = self.folder / "node.yaml"
        config.write_text(yaml.safe_dump(settings))
        return config

    def start(self) -> None:
        config = self.config()
        with (self.folder / "agent.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cardquota_node", "run", "--config", str(config)],
                env={**os.environ, "POD_NAME": _POD},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        os.kill(self.process.pid, number)
        code = self.process.wait(30)
        self.process = None
        # What the next one offers is not taken for what this one did.
        eventually(lambda: not any(self.kubelet.devices.values()), "the kubelet knows it")
        return code

    def remember(self) -> None:
        """This is how it is at first."""
        self._first = copy.deepcopy((self.cards, self.settings))

    def as_at_first(self) -> None:
        """Pods, sick cards, other settings and what was logged are forgotten."""
        self.kubelet.forget_all()
        self.kubelet.hear_of("kube-system", _POD, "agent")
        cards, settings = copy.deepcopy(self._first)
        self._log_read = len((self.folder / "agent.log").read_text())
        if self.process is None or self.process.poll() is not None or settings != self.settings:
            if self.process is not None:
                self.stop(signal.SIGKILL)
            self.settings = settings
            self.start()
        self.cards = cards
        self.write_cards()
        self.kubelet.waits_for(COUNT, len(cards))
        self.kubelet.waits_for(MEMORY, sum(card["memory"] for card in cards))

    @property
    def log(self) -> str:
        return (self.folder / "agent.log").read_text()[self._log_read :]

    def says(self, text: str) -> None:
        eventually(lambda: text in self.log, f"the agent says <{text}>")

    def another(self) -> subprocess.CompletedProcess[str]:
        """A second agent of the node, which ends."""
        command = [sys.executable, "-m", "cardquota_node", "run", "--config", str(self.config())]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    def nowhere(self) -> str:
        """A kubeconfig of an API server that does not listen."""
        found = yaml.safe_load(self.plane.kubeconfig.read_text())
        for entry in found["clusters"]:
            entry["cluster"]["server"] = "https://127.0.0.1:1"
        path = self.folder / "nowhere.yaml"
        path.write_text(yaml.safe_dump(found))
        return str(path)

    def command(self, name: str) -> Any:
        """What a command prints as JSON."""
        config = str(self.folder / "node.yaml")
        done = subprocess.run(
            [sys.executable, "-m", "cardquota_node", name, "--config", config, "-o", "json"],
            capture_output=True,
            check=True,
            timeout=30,
        )
        return json.loads(done.stdout)

    def page(self, path: str) -> tuple[int, str]:
        """Code and text of a page of its HTTP server."""
        answer = urllib3.request("GET", f"http://127.0.0.1:{self.port}{path}", retries=False)
        return answer.status, answer.data.decode()

    @property
    def port(self) -> int:
        log = (self.folder / "agent.log").read_text()
        return int(re.findall(r"listening on port <(\d+)>", log)[-1])

    # --- its object, and pods -----------------------------------------------------------------

    def notes(self) -> dict[str, str]:
        """The annotations of the node."""
        found = ask(self.plane, "GET", f"/api/v1/nodes/{self.name}").body
        return dict(found["metadata"].get("annotations") or {})

    def pod(self, name: str, containers: Mapping[str, int], **notes: str) -> None:
        """Create a pod that is bound to the node, with these annotations, and admit it."""
        self.create(name, containers, **notes)
        self.admit(name, containers)

    def create(self, name: str, containers: Mapping[str, int], **notes: str) -> None:
        body = {
            "metadata": {"name": name, "namespace": self.namespace, "annotations": notes},
            "spec": {
                "nodeName": self.name,
                "containers": [
                    {"name": c, "image": "x", "resources": {"limits": {self.resource: str(n)}}}
                    for c, n in containers.items()
                ],
            },
        }
        answer = ask(self.plane, "POST", f"/api/v1/namespaces/{self.namespace}/pods", body)
        assert answer.ok, answer

    def admit(self, name: str, containers: Mapping[str, int]) -> None:
        asked = {container: {self.resource: number} for container, number in containers.items()}
        self.kubelet.admit(self.namespace, name, asked)

    def start_container(self, pod: str, container: str = "main") -> dict[str, str]:
        return self.kubelet.start_container(self.namespace, pod, container)

    def pod_notes(self, name: str) -> dict[str, str]:
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}"
        return dict(ask(self.plane, "GET", path).body["metadata"].get("annotations") or {})


def placed_on(card: int, amount: int, **others: str) -> dict[str, str]:
    """What the extender writes on a pod that it binds."""
    return {
        v.GPU_MEMORY_CARD: str(card),
        v.GPU_MEMORY_OF_POD: str(amount),
        v.GPU_MEMORY_ASSIGNED: "false",
        v.GPU_MEMORY_ASSUMED_AT: "1700000000000000001",
        **others,
    }


@contextmanager
def agent_node(
    plane: Cluster,
    namespace: str,
    name: str,
    *,
    sizes: tuple[int, ...],
    offered: int = 0,
    resource: str = MEMORY,
    **settings: Any,
) -> Iterator[AgentNode]:
    # The path of a socket has at most 107 bytes: no folder of pytest's own.
    with tempfile.TemporaryDirectory(prefix="node-") as folder:
        node = AgentNode(plane, namespace, name, Path(folder))
        node.resource = resource
        with _running(node, sizes, offered, settings):
            yield node


@contextmanager
def _running(
    node: AgentNode, sizes: tuple[int, ...], offered: int, settings: dict[str, Any]
) -> Iterator[None]:
    node.cards = [
        {
            "uuid": f"GPU-{number}",
            "product": "NVIDIA-A10",
            "memory": size,
            "path": f"/dev/null{number}",
        }
        for number, size in enumerate(sizes)
    ]
    node.settings = settings
    node.remember()
    node.write_cards()
    body = {"metadata": {"name": node.name}, "spec": {"unschedulable": True}}
    assert ask(node.plane, "POST", "/api/v1/nodes", body).ok
    node.kubelet.start()
    node.start()
    try:
        if node.resource == MEMORY:
            node.kubelet.waits_for(COUNT, len(sizes))
        node.kubelet.waits_for(node.resource, offered or sum(sizes))
        yield
    finally:
        if node.process is not None:
            node.stop(signal.SIGKILL)
        node.kubelet.stop()
        ask(node.plane, "DELETE", f"/api/v1/nodes/{node.name}")
