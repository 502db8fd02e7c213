"""containerd: its configuration, and the import of the node's image."""

import asyncio
import json
import os
from pathlib import Path
from typing import Final

from ...build.versions import CNI, CONTAINERD, built
from ...failure import PlaneError
from ..components import Program
from ..folder import Folder, write_private
from .image import write_image
from .names import IMAGE
from .requirements import runc

SOCKET: Final = "/run/containerd/containerd.sock"
"""Its socket, as the node's processes see it."""

_CONFIGURATION: Final = """\
version = 3
root = "{folder}/containerd"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt"]

[plugins.'io.containerd.cri.v1.images']
# It works on each file system, and the one image is small.
snapshotter = "native"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "{image}"

[plugins.'io.containerd.cri.v1.runtime']
# In a container or a small virtual machine it may be that no process may lower its score.
restrict_oom_score_adj = true
cdi_spec_dirs = ["{folder}/cdi"]
netns_mounts_under_state_dir = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["{plugins}"]
conf_dir = "{folder}/cni"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = "{runc}"
SystemdCgroup = false
"""

_NO_NETWORK: Final = '{"cniVersion": "1.0.0", "name": "none", "plugins": [{"type": "none"}]}\n'
"""Makes the node Ready. There is no such plugin: pods need hostNetwork."""


def _bridge(folder: Folder) -> str:
    """Pods have addresses of their own, in the namespace of the plane."""
    addresses = {
        "type": "host-local",
        "dataDir": str(folder.node / "cni" / "addresses"),
        "ranges": [[{"subnet": "10.1.0.0/24"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "ipam": addresses}
    return json.dumps({"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]})


def containerd(folder: Folder, *, pod_network: bool) -> Program:
    """The container runtime. Its shims are beside it."""
    binaries = built(CONTAINERD)
    configuration = folder.node / "containerd.toml"
    plugins = built(CNI) if pod_network else folder.node / "cni"
    write_private(
        configuration,
        _CONFIGURATION.format(folder=folder.node, image=IMAGE, runc=runc(), plugins=plugins),
    )
    for name in ("cdi", "cni"):
        (folder.node / name).mkdir()
    network = _bridge(folder) if pod_network else _NO_NETWORK
    write_private(folder.node / "cni" / "pods.conflist", network)
    return Program(
        "containerd",
        (str(binaries / "containerd"), f"--config={configuration}"),
        f"unix://{SOCKET}",
        None,
        {"PATH": f"{binaries}:{os.environ.get('PATH', '')}"},
    )


async def listens(folder: Folder) -> bool:
    """Whether containerd listens."""
    return (folder.node / "run" / "containerd.sock").is_socket()


async def import_image(folder: Folder) -> None:
    """Make the node's image, and give it to containerd. Raises PlaneError."""
    archive = folder.node / "image.tar"
    write_image(built(CONTAINERD) / "environment", archive)
    await import_archive(archive)


async def import_archive(archive: Path) -> None:
    """Give an image to containerd. Raises PlaneError."""
    process = await asyncio.create_subprocess_exec(
        str(built(CONTAINERD) / "ctr"),
        *("--namespace=k8s.io", "images", "import", "--local", "--snapshotter=native"),
        str(archive),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    if process.returncode != 0:
        raise PlaneError(f"ctr images import failed: {said.decode(errors='replace').strip()}")
