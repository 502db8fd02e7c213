"""The operator's Deployment: as an administrator installs it, with a place on the real node."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any, Final

from ...failure import PlaneError
from ...paths import CHECKOUT
from ..children import Children
from ..folder import Folder, write_private_json
from ..probe import Probe
from ..real_node.containerd import import_archive
from ..real_node.names import MARK

_BASE: Final = CHECKOUT / "manifests" / "base"
_PAGE: Final = CHECKOUT / "manifests" / "components" / "page"
_DEPLOYMENT: Final = "/apis/apps/v1/namespaces/cardquota-system/deployments/cardquota"
_PATIENCE: Final = 180.0

_PLACE: Final = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "cardquota", "namespace": "cardquota-system"},
    "spec": {
        "template": {
            "spec": {
                "nodeSelector": {MARK: "true"},
                "tolerations": [{"key": MARK, "operator": "Exists"}],
            }
        }
    },
}


async def start_operator(
    folder: Folder, children: Children, probe: Probe, kubectl: Path, archive: Path
) -> None:
    """Return once all pods of the Deployment are ready. Raises PlaneError."""
    await import_archive(archive)
    overlay = folder.node / "operator"
    overlay.mkdir()
    kustomization = _kustomization(overlay.resolve())
    write_private_json(overlay / "place.json", _PLACE)
    write_private_json(overlay / "kustomization.yaml", kustomization)
    process = await asyncio.create_subprocess_exec(
        *(str(kubectl), f"--kubeconfig={folder.kubeconfig}"),
        *(f"--cache-dir={folder.private / 'kubectl-cache'}", "apply", "--server-side"),
        *("--force-conflicts", "--kustomize", str(overlay)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    _, said = await process.communicate()
    if process.returncode != 0:
        raise PlaneError(f"kubectl apply failed:\n{said.decode(errors='replace').strip()}")
    await children.until(partial(_ready, probe), "the operator's pods ready", _PATIENCE)


def _kustomization(above: Path) -> dict[str, Any]:
    return {
        "resources": [os.path.relpath(_BASE, above)],
        "components": [os.path.relpath(_PAGE, above)],
        "patches": [{"path": "place.json"}],
    }


async def _ready(probe: Probe) -> bool:
    found: dict[str, Any] = await probe.read(_DEPLOYMENT) or {"spec": {}, "status": {}}
    wanted, status = found["spec"].get("replicas"), found["status"]
    return wanted is not None and status.get("availableReplicas") == wanted
