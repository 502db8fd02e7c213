"""`kubectl cardquota` as a process."""

import os
import subprocess
import sys
from pathlib import Path


def plugin(kubeconfig: Path, *words: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    """Run it with a user's kubeconfig. `path`: before PATH. The caller checks the result."""
    return subprocess.run(
        (sys.executable, "-m", "cardquota.cli.plugin", *words),
        env={
            **os.environ,
            "KUBECONFIG": str(kubeconfig),
            "PATH": os.pathsep.join(filter(None, (path, os.environ["PATH"]))),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
