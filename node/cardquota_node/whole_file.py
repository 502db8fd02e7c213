"""Files that a reader finds whole: the former one or the new one, never a part."""

import os
from pathlib import Path
from typing import Final

UNFINISHED: Final = ".unfinished"
"""How the other one's name ends."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file by way of another one beside it, and its folder if there is none. On return it
    is stored. Raises OSError; then the former file stays.
    """
    # Whoever reads all files of the folder that end in .json does not read this one.
    unfinished = path.with_suffix(UNFINISHED)
    path.parent.mkdir(parents=True, exist_ok=True)
    with unfinished.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
