"""The start of the stand-in on a plane."""

import sys
from pathlib import Path
from typing import Final

from ..children import Children
from ..components import Program
from ..credentials.identities import Identity
from ..credentials.keys import Keys
from ..folder import Folder, write_private_json
from ..kubectl import apply
from ..ports import free_ports
from ..probe import Probe
from .apis import CUSTOM_METRICS, RESOURCE_METRICS
from .registration import api_services, is_available, objects

_PATIENCE: Final = 120.0
_API_SERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
_ASKED: Final = (f"/apis/{RESOURCE_METRICS}/pods", f"/apis/{CUSTOM_METRICS}")


async def start_usage(
    children: Children,
    probe: Probe,
    kubectl: Path,
    folder: Folder,
    keys: Keys,
    identity: Identity,
) -> None:
    """Return once the API server answers requests for metrics. Raises PlaneError.

    The objects are applied here and never again, not even when the process is restarted: whoever
    points an APIService elsewhere will find it there.
    """
    (port,) = free_ports(1)
    program = _program(port, keys, identity)
    await children.start(program)
    # First it must listen: the API server looks again for what it did not find, but later.
    ready = f"{program.address}{program.ready}"
    await children.until(lambda: probe.ok(ready), f"{program.name} ready", _PATIENCE)
    manifest = folder.private / "usage.json"
    write_private_json(manifest, objects(port, keys))
    await apply(kubectl, folder.kubeconfig, [manifest])
    await children.until(lambda: _answered(probe), "metrics are answered", _PATIENCE)


def _program(port: int, keys: Keys, identity: Identity) -> Program:
    return Program(
        name="usage",
        command=(
            sys.executable,
            "-m",
            "cardquota_dev.plane.usage",
            f"--port={port}",
            f"--certificate={keys.certificate}",
            f"--key={keys.key}",
        ),
        address=f"https://127.0.0.1:{port}",
        ready="/readyz",
        environment={"KUBECONFIG": str(identity.kubeconfig)},
    )


async def _answered(probe: Probe) -> bool:
    """Whether both APIs are available and answer through the API server."""
    found = [await probe.read(f"{_API_SERVICES}/{name}") for name in api_services()]
    return all(map(is_available, found)) and None not in [await probe.read(one) for one in _ASKED]
