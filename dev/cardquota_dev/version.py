"""`python -m cardquota_dev.version [--check]`: writes the version where else it stands.

`cardquota.__version__` is the one place where a person writes it; everything else that people apply
or copy gets it from here. The build of the wheel reads it itself.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cardquota import __version__

from .generate import keep
from .paths import CHECKOUT

_VERSION: Final = r"\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?"
_IMAGES: Final = rf"(\bimage: cardquota(?:-node)?:){_VERSION}"
_PLACES: Final[Mapping[str, tuple[str, int]]] = {
    "manifests/base/deployment.yaml": (_IMAGES, 1),
    "manifests/components/node/daemonset.yaml": (_IMAGES, 1),
    "charts/cardquota/Chart.yaml": (rf"((?m:^)(?:appVersion|version): ){_VERSION}", 2),
    "docs/install.md": (rf"(REGISTRY/cardquota:|newTag: |cardquota-){_VERSION}", 4),
    "README.md": (rf"(\*\*Status\.\*\* Version ){_VERSION}", 1),
}
"""By file: what stands before the version, and how often it is there."""


def versioned(version: str = __version__) -> dict[Path, str]:
    """The files, and what each must contain. Raises AssertionError if a place is gone."""
    found = {}
    for name, (pattern, number) in _PLACES.items():
        path = CHECKOUT / name
        text, times = re.subn(pattern, rf"\g<1>{version}", path.read_text("utf-8"))
        if times != number:
            raise AssertionError(f"{name}: the version stands there {times} times, not {number}")
        found[path] = text
    return found


def main(arguments: list[str] | None = None) -> int:
    """Write or compare; 1 if `--check` finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m cardquota_dev.version")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    return keep(versioned(), check=parser.parse_args(arguments).check)


if __name__ == "__main__":
    sys.exit(main())
