"""Containers of the images, as the manifests start them: an unprivileged user, nothing to write to
but /tmp, no capabilities.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cardquota_dev.testing import eventually, running_plane
from conftest import decides

from .conftest import Unpacked
from .in_container import GIVEN, bundle
from .in_container import __file__ as in_container

pytestmark = pytest.mark.long


def run(image: Unpacked, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = bundle(image.root, image.config, folder, *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_operators_container_runs_its_program(operator: Unpacked, tmp_path: Path) -> None:
    done = run(operator, tmp_path, "--version")
    assert (done.returncode, done.stdout) == (0, "cardquota 0.1.0\n"), done.stderr


def test_the_agents_container_runs_its_program(agent: Unpacked, tmp_path: Path) -> None:
    settings = tmp_path / "node.yaml"
    card = {"uuid": "GPU-1", "product": "NVIDIA-A10", "memory": 24_564, "path": "/dev/null"}
    cards = {"cards": [card]}
    settings.write_text(yaml.safe_dump({"node": "n", "inventory": {"file": f"{GIVEN}/cards.yaml"}}))
    command = bundle(agent.root, agent.config, tmp_path, "inventory", f"--config={settings}")
    (tmp_path / "given" / "cards.yaml").write_text(yaml.safe_dump(cards))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "GPU-1" in done.stdout


@pytest.mark.plane
@pytest.mark.disruptive
def test_the_operators_container_becomes_ready_on_a_plane_and_decides(
    operator: Unpacked, tmp_path: Path
) -> None:
    product = (sys.executable, in_container, str(operator.root), json.dumps(operator.config))
    with running_plane(tmp_path / "plane", product=product) as cluster:
        replica = cluster.state.process("cardquota-0")
        status = Path(f"/proc/{replica.pid}/cmdline").read_text()
        assert "runc" in status
        eventually(lambda: decides(cluster), "a leader that decides")
