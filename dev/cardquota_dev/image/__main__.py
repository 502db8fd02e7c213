"""The commands: `python -m cardquota_dev.image build | root | lock`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..failure import PlaneError
from ..paths import IMAGES
from .build import build_images, build_root
from .locks import stale_locks, write_locks
from .target import TARGETS

app = typer.Typer(
    help="The images of the operator and of the node agent, without a daemon and without root.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Name = StrEnum("Name", list(TARGETS))  # type: ignore[misc]
"""Which image."""


@app.command()
def build(
    *,
    target: Annotated[list[Name] | None, typer.Option(help="Can be repeated. Absent: all.")] = None,
    folder: Annotated[
        Path, typer.Option("--dir", help="Where to.", show_default="build/image in the checkout")
    ] = IMAGES,
) -> None:
    """Write the archives of images, and what is in them. Prints each with its digest."""
    wanted = [TARGETS[name] for name in target or Name]
    for image in build_images(wanted, folder.absolute()):
        print(f"{image.archive} {image.digest}", flush=True)


@app.command()
def root(target: Name, folder: Path) -> None:
    """Write the files of an image into a folder: the Dockerfile makes its image of them."""
    build_root(TARGETS[target], folder)


@app.command()
def lock(
    *, check: Annotated[bool, typer.Option("--check", help="Write nothing, compare.")] = False
) -> None:
    """Lock the versions in constraints.txt that the images need, with the hashes of their wheels.

    With --check exits 1 if the locks have other versions; that asks no package index.
    """
    if not check:
        write_locks()
    elif stale := stale_locks():
        sys.exit(f"{', '.join(stale)}: not as locked, run python -m cardquota_dev.image lock")


def main() -> None:
    """Run a command. A failure is one sentence on standard error."""
    try:
        app()
    except PlaneError as error:
        sys.exit(f"cardquota_dev.image: {error}")


if __name__ == "__main__":
    main()
