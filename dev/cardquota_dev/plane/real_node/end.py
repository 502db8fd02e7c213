"""The end of what outlives the real node's processes."""

import os

from ..folder import Folder
from ..process import marked
from . import cgroups


def end_real_node(folder: Folder) -> None:
    """End shims and containers: they outlive containerd. Nothing happens where there is no node.

    To be called when the plane's processes have ended.
    """
    if not folder.node.exists():
        return
    for stray in marked(folder.path):
        if stray.pid != os.getpid():
            stray.kill()
    cgroups.end(folder)
