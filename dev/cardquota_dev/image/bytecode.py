"""Compiling all modules of an image, by the image's own Python.

The image is read-only, so a container could keep nothing that it compiles, and would compile all
anew at each start. What is compiled says nothing of times and folders, and is not compared with its
source: so it is the same whoever makes it.
"""

import subprocess
from pathlib import Path
from typing import Final

from ..failure import PlaneError
from .target import INTERPRETER

_SELDOM: Final = "/site-packages/kubernetes_asyncio/"
"""Imported for a person's kubeconfig with credential plugins alone; as large as all others."""


def compile_modules(python: Path, root: Path, folder: str) -> None:
    """Compile the modules in a folder of a root, by the Python of another. Raises PlaneError.

    This also shows that the Python runs: its loader is asked for no library of this machine.
    """
    loaders = [*python.glob("lib64/ld-linux-*.so.*"), *python.glob("lib/ld-linux-*.so.*")]
    libraries = [str(path) for path in python.glob("**/*-linux-gnu") if path.parent.name == "lib"]
    command = [
        *(str(loaders[0]), "--library-path", ":".join(sorted(libraries))),
        *(f"{python}{INTERPRETER}", "-S", "-s", "-m", "compileall", "-q"),
        *("--invalidation-mode=unchecked-hash", "-s", str(root), "-p", "/"),
        *("-x", _SELDOM, f"{root}/{folder}"),
    ]
    environment = {
        "PYTHONHOME": f"{python}/usr",
        "PYTHONHASHSEED": "0",  # else sets are in another order each time
        "PYTHONDONTWRITEBYTECODE": "1",  # what it imports itself would stay, with its path
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        raise PlaneError(f"the image's Python does not compile its modules:\n{said}")
