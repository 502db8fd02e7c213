"""Where a thread is, as text: file, line and function of the innermost frames of our own code."""

from collections.abc import Iterator
from types import FrameType
from typing import Final

_OURS: Final = ("/cardquota/", "/cardquota_webhooks/")
_FRAMES: Final = 5


def place_of(frame: FrameType | None) -> str:
    """The frames as text, innermost first. Of foreign code only the innermost frame.

    Keeps no frame: that would keep all its objects.
    """
    told: list[str] = []
    for number, found in enumerate(_outwards(frame)):
        name = found.f_code.co_filename
        ours = _own(name)
        if ours or not number:
            short = ours or "/".join(name.rsplit("/", 2)[-2:])
            told.append(f"{short}:{found.f_lineno} {found.f_code.co_name}")
        if len(told) == _FRAMES:
            break
    return " < ".join(told)


def _own(name: str) -> str:
    """The file's path from our package on; empty if it is not ours."""
    for package in _OURS:
        _, found, rest = name.rpartition(package)
        if found:
            return f"{package[1:]}{rest}"
    return ""


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
