"""Whom the kubelet may be asking for, while the API server takes connections and never answers."""

import asyncio
import socket
import tempfile
import time
from pathlib import Path

import pytest
import yaml

from cardquota_node import api_server, waiting_containers
from cardquota_node.api_server import ApiServer, ApiServerError
from cardquota_node.kubelet import PodResources
from cardquota_node.waiting_containers import WaitingContainers
from harness.python_kubelet import PythonKubelet

PODS = 200


def test_many_pods_that_cannot_be_read_are_given_up_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api_server, "_TIMEOUT", 1.0)
    monkeypatch.setattr(waiting_containers, "_LONGEST", 0.2)
    with (
        tempfile.TemporaryDirectory(prefix="node-") as folder,
        socket.create_server(("127.0.0.1", 0), backlog=PODS) as silent,
    ):
        kubelet = PythonKubelet(Path(folder))
        kubelet.start()
        for number in range(PODS):
            kubelet.hear_of("a", f"p{number}", "main")
        path = Path(folder, "kubeconfig")
        address = f"https://127.0.0.1:{silent.getsockname()[1]}"
        path.write_text(
            yaml.safe_dump(
                {
                    "current-context": "x",
                    "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                    "clusters": [{"name": "x", "cluster": {"server": address}}],
                    "users": [{"name": "x", "user": {}}],
                }
            )
        )
        pods = PodResources(kubelet.pod_resources)
        waiting = WaitingContainers("example.com/memory", pods, ApiServer(path, "n"))
        begun = time.monotonic()
        with pytest.raises(ApiServerError, match=f"<{PODS}> pods could not be read within"):
            asyncio.run(waiting.asking_for(1))
        # Nor is what was not asked yet asked now: each would take its second.
        assert time.monotonic() - begun < PODS / 10
        kubelet.stop()
