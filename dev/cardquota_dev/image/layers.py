"""The layers of an image, as folders: what lies in which.

What changes less often is below: it is stored and pulled once, for both images and many versions.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .bytecode import compile_modules
from .packages import download_packages, unpack_packages
from .part import Part
from .target import INTERPRETER, PREFIX, PYTHON, USER, Target
from .wheels import build_wheel, download_wheels, install_wheels

_FILES: Final = {
    "etc/passwd": f"root:x:0:0:root:/:\ncardquota:x:{USER}:{USER}:cardquota:/:\n",
    "etc/group": f"root:x:0:\ncardquota:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
"""What Debian's packages leave to scripts."""

_ENVIRONMENT: Final = f"home = {INTERPRETER.parent}\ninclude-system-site-packages = false\n"
"""A virtual environment's pyvenv.cfg."""


@dataclass(frozen=True)
class Layer:
    """One layer. Its folder has the files at their places."""

    folder: Path
    says: str
    """What it is, in the image's history."""
    parts: list[Part]


def python_layer(scratch: Path) -> Layer:
    """Python, the lowest layer. The folder must be empty, here and below. Raises PlaneError."""
    root = scratch / "root"
    packages = download_packages(scratch / "apt")
    unpack_packages(packages, root)
    for name, content in _FILES.items():
        (root / name).write_text(content)
    compile_modules(root, root, f"usr/lib/python{PYTHON}")
    return Layer(root, f"Python {PYTHON} of Debian", packages)


def wheels_layer(python: Layer, target: Target, scratch: Path) -> Layer:
    """What an image needs of PyPI. Raises PlaneError."""
    wheels = download_wheels(target.lock, scratch / "wheels")
    return _of_wheels(python, scratch / "root", target.lock.name, wheels)


def project_layer(python: Layer, scratch: Path, moment: int) -> Layer:
    """The project itself, the uppermost layer, with this time in its wheel. Raises PlaneError."""
    wheels = build_wheel(scratch / "wheels", moment)
    root = scratch / "root"
    prefix = root / PREFIX.relative_to("/")
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text(_ENVIRONMENT)
    (prefix / "bin" / "python").symlink_to(INTERPRETER)
    return _of_wheels(python, root, f"{wheels[0].name} {wheels[0].version}", wheels)


def _of_wheels(python: Layer, root: Path, says: str, wheels: list[Part]) -> Layer:
    install_wheels(wheels, root)
    compile_modules(python.folder, root, str(PREFIX.relative_to("/")))
    return Layer(root, says, wheels)
