"""What an administrator installs: a second kube-scheduler, which asks the extender."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.plane.folder import write_private
from cardquota_dev.testing import Cluster
from integration.asking import ask

from .shared_cards import SharedCards

pytestmark = pytest.mark.slow
COMPONENT = Path(__file__).parents[3] / "manifests" / "components" / "extender"
OWN = "cardquota-system"
SCHEDULER = "cardquota-scheduler"


def test_what_asks_for_no_card_is_bound_by_the_scheduler(one_node: SharedCards) -> None:
    pod = one_node.document("plain", 0)
    pod["spec"]["containers"][0]["resources"] = {}
    assert ask(one_node.plane, "POST", one_node.path(), pod).ok
    assert v.TERM not in one_node.bound("plain")["metadata"].get("annotations", {})


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


def test_the_second_scheduler(one_node: SharedCards, second_scheduler: Path) -> None:
    """With the rights, and the Lease, that the component gives it."""
    one_node.placed("second", 3, schedulerName=SCHEDULER)
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{OWN}/leases/{SCHEDULER}"
    assert ask(one_node.plane, "GET", lease).body["spec"]["holderIdentity"]
    assert "forbidden" not in second_scheduler.read_text()
