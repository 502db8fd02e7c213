"""A mount namespace for one plane: the node is at the usual paths, and nobody else sees it there.

A kubelet, containerd and its shims have paths that no option changes, above all
`/var/lib/kubelet/device-plugins`, and Unix sockets whose paths must be short. In a namespace of our
own these paths are folders of the plane. So planes with a node run beside each other, and beside a
kubelet of this machine. The kernel removes all mounts with the last process of the plane.
"""

import ctypes
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ...failure import PlaneError
from ..folder import Folder
from .names import NODE

_NEW_MOUNTS: Final = 0x0002_0000
"""CLONE_NEWNS. Python has os.unshare from 3.12 on."""

_FOLDERS: Final = {
    "/var/lib/kubelet": "kubelet",
    "/run/containerd": "run",
    "/var/lib/cni": "cni-results",
    "/var/log": "log",
}
"""Folder of the plane's node by the path where the node has it."""

_TUNABLES: Final = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
"""What a kubelet sets in the kernel. It finds them set, and leaves the machine's as they are."""


def enter(folder: Folder) -> None:
    """Go into a new namespace, with all processes that are started from now on. Raises PlaneError.

    The empty folders where the node's are mounted stay on the machine.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) != 0:
        raise PlaneError(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    _mount("--make-rprivate", "/")
    for path, name in _FOLDERS.items():
        Path(path).mkdir(parents=True, exist_ok=True)
        (folder.node / name).mkdir(parents=True)
        _mount("--bind", str(folder.node / name), path)
    hosts = f"127.0.0.1 localhost {NODE}\n"  # where the API server asks the kubelet for logs
    files = {f"/proc/sys/{name}": f"{value}\n" for name, value in _TUNABLES.items()}
    _mount_files(folder, {"/etc/hosts": hosts, **files})


def _mount_files(folder: Folder, contents: Mapping[str, str]) -> None:
    for number, (path, content) in enumerate(contents.items()):
        if Path(path).exists():
            file = folder.node / f"mounted-{number}"
            file.write_text(content)
            _mount("--bind", str(file), path)


def _mount(*arguments: str) -> None:
    command = ["mount", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PlaneError(f"{' '.join(command)} failed: {done.stderr.strip()}")
