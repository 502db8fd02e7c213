"""`python -m cardquota_dev.chart.install_yaml [--image IMAGE]`: `manifests/base` as one file.

For `kubectl apply --server-side -f`: in an order in which everything is accepted the first time.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from cardquota import __version__

from ..generate import definitions
from ..paths import CHECKOUT

_BASE: Final = CHECKOUT / "manifests" / "base"
_IMAGE: Final = f"image: cardquota:{__version__}"
_FIRST: Final = ("namespace.yaml", "../../crds")


def install_yaml(image: str = "") -> str:
    """The file's text, with the operator's image of this name."""
    kustomization: dict[str, Any] = yaml.safe_load((_BASE / "kustomization.yaml").read_text())
    resources: list[str] = kustomization.pop("resources")
    if set(kustomization) != {"apiVersion", "kind"}:
        raise AssertionError("the base has resources alone: no patches that would be lost here")
    others = (name for name in resources if name not in _FIRST)
    texts = [_text(name) for name in (*_FIRST, *others)]
    whole = "---\n".join(text.removeprefix("---\n") for text in texts)
    if whole.count(_IMAGE) != 1:
        raise AssertionError(f"{_IMAGE!r} must stand there once")
    return whole.replace(_IMAGE, f"image: {image}") if image else whole


def _text(name: str) -> str:
    if name != "../../crds":
        return (_BASE / name).read_text("utf-8")
    files: dict[Path, str] = definitions()
    return "---\n".join(text for path, text in files.items() if path.name != "kustomization.yaml")


def main(arguments: list[str] | None = None) -> int:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m cardquota_dev.chart.install_yaml")
    parser.add_argument("--image", default="", help="name and tag of the operator's image")
    sys.stdout.write(install_yaml(parser.parse_args(arguments).image))
    return 0


if __name__ == "__main__":
    sys.exit(main())
