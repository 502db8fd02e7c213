"""What an administrator installs: both ways in which a kube-scheduler asks the extender."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.quota import (
    GPU_MEMORY,
    GPU_MEMORY_ASSIGNED,
    GPU_MEMORY_CARD,
    GPU_MEMORY_OF_CARD,
    NAMESPACE_AUDIT,
    NAMESPACE_MODE,
    TERM,
)
from cardquota_dev.plane.folder import write_private
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ask

COMPONENT = Path(__file__).parents[3] / "manifests" / "components" / "extender"
OWN = "cardquota-system"
SCHEDULER = "cardquota-scheduler"


def a_pod(name: str, resource: str, amount: int, **spec: Any) -> dict[str, Any]:
    limits = {"limits": {resource: str(amount)}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": limits}], **spec},
    }


def bound(plane: Cluster, namespace: str, document: dict[str, Any]) -> dict[str, Any]:
    """Create a pod; the pod once it has a node."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    eventually(lambda: ask(plane, "POST", pods, document).ok, "it is created")
    name = document["metadata"]["name"]

    def found() -> dict[str, Any] | None:
        body = ask(plane, "GET", f"{pods}/{name}").body
        return body if body["spec"].get("nodeName") else None

    return eventually(found, f"{name} is bound")


@pytest.fixture(scope="module")
def shared_cards(extender_plane: Cluster) -> Iterator[str]:
    """A node with two cards of 16, whose memory it shares."""
    name = "installed-shared"
    amounts = {
        "cpu": "8",
        "memory": "32Gi",
        "pods": "110",
        GPU_MEMORY: "32",
        "aliyun.com/gpu-count": "2",
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    extender_plane.apply(yaml.safe_dump(node))
    yield name
    ask(extender_plane, "DELETE", f"/api/v1/nodes/{name}")


def in_audit(plane: Cluster, namespace: str) -> None:
    """Card memory needs no queue there (B9)."""
    label = {"metadata": {"labels": {NAMESPACE_MODE: NAMESPACE_AUDIT}}}
    path = f"/api/v1/namespaces/{namespace}"
    assert ask(plane, "PATCH", path, label, content_type=MERGE).ok


@pytest.mark.slow
def test_the_existing_scheduler(extender_plane: Cluster, namespace: str, shared_cards: str) -> None:
    """By what `cardquota scheduler-config` prints. The Binding brings card and term."""
    in_audit(extender_plane, namespace)
    pod = bound(extender_plane, namespace, a_pod("memory", GPU_MEMORY, 5))
    assert pod["spec"]["nodeName"] == shared_cards
    notes = pod["metadata"]["annotations"]
    assert notes[GPU_MEMORY_CARD] in ("0", "1")
    assert (notes[GPU_MEMORY_OF_CARD], notes[GPU_MEMORY_ASSIGNED]) == ("16", "false")
    lease = ask(
        extender_plane, "GET", f"/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/cardquota"
    )
    assert notes[TERM] == lease.body["spec"]["holderIdentity"]
    whole = bound(extender_plane, namespace, a_pod("whole", "nvidia.com/gpu", 1))
    assert TERM in whole["metadata"]["annotations"]


def test_what_asks_for_no_card_is_bound_by_the_scheduler(
    extender_plane: Cluster, namespace: str
) -> None:
    pod = bound(extender_plane, namespace, a_pod("plain", "cpu", 1))
    assert TERM not in pod["metadata"].get("annotations", {})


def test_the_credentials_are_private(extender_plane: Cluster) -> None:
    assert extender_plane.folder is not None
    files = sorted(extender_plane.folder.extender.iterdir())
    assert [(one.name, one.stat().st_mode & 0o777) for one in files] == [
        (name, 0o600) for name in ("ca.crt", "tls.crt", "tls.key")
    ]


@pytest.fixture
def second_scheduler(extender_plane: Cluster, tmp_path: Path) -> Iterator[Path]:
    """The scheduler that is shipped: its configuration and rights. Gives the path of its log."""
    plane, folder = extender_plane, extender_plane.folder
    assert folder is not None
    done = plane.kubectl("apply", "-f", str(COMPONENT / "scheduler-rbac.yaml"))
    assert done.returncode == 0, done.stderr
    token = plane.kubectl("create", "token", SCHEDULER, "-n", OWN).stdout.strip()
    kubeconfig = yaml.safe_load(folder.kubeconfig.read_text())
    kubeconfig["users"] = [{"name": kubeconfig["users"][0]["name"], "user": {"token": token}}]
    write_private(tmp_path / "kubeconfig", yaml.safe_dump(kubeconfig))
    shipped = yaml.safe_load((COMPONENT / "scheduler-config.yaml").read_text())
    text = shipped["data"]["config.yaml"]
    for here, there in (
        ("/etc/cardquota-extender", str(folder.extender)),
        (f"https://cardquota-extender.{OWN}.svc/", f"{plane.state.extender}/"),
    ):
        assert here in text
        text = text.replace(here, there)
    # The name that it checks stays that of the Service: the certificate is valid for both.
    config = yaml.safe_load(text)
    config["clientConnection"] = {"kubeconfig": str(tmp_path / "kubeconfig")}
    write_private(tmp_path / "config.yaml", yaml.safe_dump(config))
    command = [
        str(Path(plane.state.bin_dir) / "kube-scheduler"),
        f"--config={tmp_path / 'config.yaml'}",
        "--secure-port=0",
    ]
    log = tmp_path / "log"
    with (
        log.open("w") as output,
        subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True) as process,
    ):
        try:
            yield log
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.usefixtures("shared_cards")
def test_the_second_scheduler(
    extender_plane: Cluster, namespace: str, second_scheduler: Path
) -> None:
    """With the rights, and the Lease, that the component gives it."""
    in_audit(extender_plane, namespace)
    document = a_pod("second", GPU_MEMORY, 3, schedulerName=SCHEDULER)
    pod = bound(extender_plane, namespace, document)
    assert GPU_MEMORY_CARD in pod["metadata"]["annotations"]
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/{SCHEDULER}"
    assert ask(extender_plane, "GET", lease).body["spec"]["holderIdentity"]
    assert "forbidden" not in second_scheduler.read_text()
