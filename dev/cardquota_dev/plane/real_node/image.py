"""The node's one image, made without a registry: an archive with one program in one layer."""

import shutil
import tempfile
from pathlib import Path

from ...image.archive import Image, write_archive
from ...image.target import architecture
from .names import IMAGE


def write_image(program: Path, archive: Path) -> None:
    """Write an image with this program, which must be static. Raises PlaneError."""
    with tempfile.TemporaryDirectory() as scratch:
        layer = Path(scratch)
        shutil.copy(program, layer)
        config = {"Entrypoint": [f"/{program.name}"]}
        write_archive(Image(IMAGE, architecture(), config, [(layer, program.name)], 0), archive)
