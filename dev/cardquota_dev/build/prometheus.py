"""Prometheus and promtool, out of Debian's package: the tests of board and alerts run them.

Guarantees: both are there or neither is, also after an interruption. Once they are in the cache no
network is needed, and they stay until somebody removes the folder.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from ..debian import apt_get, unpack
from ..paths import cache

_PROGRAMS: Final = ("prometheus", "promtool")


def prometheus_folder() -> Path:
    """The folder with `prometheus` and `promtool`; it is there if they are."""
    return cache().parent / "prometheus"


def provide_prometheus() -> Path:
    """The folder with both, fetched if it is not there yet. Raises PlaneError where they cannot be
    had, as without apt-get.
    """
    kept = prometheus_folder()
    if kept.is_dir():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        folder = Path(scratch)
        apt_get(folder, "update")
        apt_get(folder, "download", "prometheus")
        (file,) = folder.glob("prometheus_*.deb")
        unpack(file, folder / "root")
        (folder / "both").mkdir()
        for name in _PROGRAMS:
            shutil.move(folder / "root" / "usr" / "bin" / name, folder / "both" / name)
        if not kept.is_dir():  # somebody else was quicker
            (folder / "both").rename(kept)
    return kept
