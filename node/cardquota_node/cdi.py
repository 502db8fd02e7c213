"""What the container runtime adds to a container, by the Container Device Interface (CDI): a file
for each container, which the runtime reads when it creates the container.

So what a container gets can be decided after the kubelet has asked, when it is known whose it is.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.json import Decoder

from .kubelet import RefusedError
from .whole_file import UNFINISHED, write_whole

FOLDER: Final = Path("/var/run/cdi")
"""Where runtimes look: what stands there is gone when the node starts again, as its containers."""
_VERSION: Final = "0.5.0"
_PREFIX: Final = "cardquota-"


class _Edits(Struct):
    env: list[str]


class _Device(Struct):
    name: str
    containerEdits: _Edits  # noqa: N815


class _Spec(Struct):
    kind: str
    devices: list[_Device]


_DECODER: Final = Decoder(_Spec)


class CdiFolder:
    """The files of one kind of devices: `<vendor>/<class>`."""

    def __init__(self, kind: str, folder: Path = FOLDER) -> None:
        self._kind, self._folder = kind, folder
        self._start = f"{_PREFIX}{kind.replace('/', '-')}-"

    def name(self, device: str) -> str:
        """By which the kubelet hands a device to the runtime."""
        return f"{self._kind}={device}"

    def write(self, device: str, env: Mapping[str, str], nodes: Sequence[str]) -> None:
        """Write what a device stands for: environment and device nodes. A reader finds the former
        file or this one, never a part. Raises RefusedError.
        """
        edits = {
            "env": [f"{key}={value}" for key, value in env.items()],
            "deviceNodes": [{"path": node} for node in nodes],
        }
        stored = {
            "cdiVersion": _VERSION,
            "kind": self._kind,
            "devices": [{"name": device, "containerEdits": edits}],
        }
        path = self._path(device)
        try:
            write_whole(path, json.dumps(stored).encode())
        except OSError as error:
            raise RefusedError(
                f"{path} cannot be written, so the container would have no card: {error.strerror}"
            ) from None

    def environment(self, device: str) -> dict[str, str]:
        """What was written of a device's environment; empty if it has no file that can be read, or
        one that is not of this device.
        """
        try:
            stored = _DECODER.decode(self._path(device).read_bytes())
            (found,) = stored.devices
            entries = dict(entry.split("=", 1) for entry in found.containerEdits.env)
        except (OSError, ValueError, RecursionError):
            return {}
        return entries if (stored.kind, found.name) == (self._kind, device) else {}

    def devices(self) -> Iterator[str]:
        """Those that have a file."""
        for path in self._folder.glob(f"{self._start}*.json"):
            yield path.name.removeprefix(self._start).removesuffix(".json")

    def remove_unfinished(self) -> None:
        """What was left half-written. Nothing may be written meanwhile."""
        for path in self._folder.glob(f"{self._start}*{UNFINISHED}"):
            _unlink(path)

    def remove(self, device: str) -> None:
        """Its container is gone. Does nothing if it has no file, or the folder cannot be written:
        a file that nobody asks for harms nobody.
        """
        _unlink(self._path(device))

    def _path(self, device: str) -> Path:
        return self._folder / f"{self._start}{device}.json"


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
