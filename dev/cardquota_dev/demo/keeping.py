"""The text for users whose plane keeps running."""

import shlex
import sys
from pathlib import Path

from ..paths import DEFAULT_PLANE
from ..plane.folder import Folder
from ..plane.state import read_state


def how_to_go_on(folder: Folder) -> str:
    """How to use the plane, and how to end it, as shell commands."""
    state = read_state(folder)
    path = shlex.quote(state.bin_dir if state else "")
    return "\n".join(
        (
            "",
            "The plane still runs. To use it:",
            f"  export PATH={path}:$PATH",
            f"  export KUBECONFIG={shlex.quote(str(folder.kubeconfig))}   # or kubeconfig-tenant",
            "  kubectl get queues -o wide",
            f"Its logs: {folder.path / 'logs'}",
            f"To end it: {_ending(folder.path)}",
        )
    )


def _ending(path: Path) -> str:
    if path == DEFAULT_PLANE:
        return "make down"
    return f"{sys.executable} -m cardquota_dev down --dir {shlex.quote(str(path))}"
