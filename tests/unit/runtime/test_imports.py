"""What a replica in a pod has loaded: 43 MB less than with the client libraries."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders.certificates import issue

IN_A_POD = """
import asyncio, sys
from pathlib import Path
import cardquota.cli.app, cardquota.runtime.run
from cardquota.cluster.api import access
access.MOUNT = Path(sys.argv[1])
print(asyncio.run(access.find_access()).server)
print(*sys.modules)
import kubernetes_asyncio.config  # it is hidden from Kopf alone
"""


@pytest.mark.slow
def test_no_client_library_is_loaded_in_a_pod(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("mine")
    ca = issue(["me"], now=datetime.now(UTC), days=1).ca_pem
    (tmp_path / "ca.crt").write_bytes(ca)
    environment = {**os.environ, "KUBERNETES_SERVICE_HOST": "pods", "KUBECONFIG": ""}
    done = subprocess.run(
        [sys.executable, "-c", IN_A_POD, tmp_path],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    server, modules = done.stdout.splitlines()
    assert server == "https://pods:443"
    loaded = {module.partition(".")[0] for module in modules.split()}
    assert "kopf" in loaded
    assert not {"kubernetes", "kubernetes_asyncio"} & loaded
