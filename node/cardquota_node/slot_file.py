"""Where the slots are and who has them, in a file: so it is the same after a restart.

It stands in the folder of the CDI files, and is gone with them when the node starts again, as its
containers are. What each container has is in its CDI file too.
"""

import logging
from pathlib import Path
from typing import Final

from msgspec import DecodeError
from msgspec.json import Decoder, encode

from .cdi import CdiFolder
from .kubelet import RefusedError
from .slot_rule import Slot, Slots
from .whole_file import write_whole

_log = logging.getLogger("cardquota_node")
_NAME: Final = "cardquota-slots.state"
"""A runtime reads all that ends in .json or .yaml."""
SLOTS: Final = "CARDQUOTA_SLOTS"
"""In a container: its slots, as they are stored."""
_DECODER: Final = Decoder(dict[str, Slot])


class SlotFile:
    """The slots of one node."""

    def __init__(self, folder: Path, cdi: CdiFolder) -> None:
        self._path, self._cdi = folder / _NAME, cdi

    def read(self) -> Slots:
        """As they were written last. If that cannot be read the log says so, and the slots that
        containers have are known by their CDI files.
        """
        try:
            return _DECODER.decode(self._path.read_bytes())
        except FileNotFoundError:
            pass
        except (OSError, DecodeError) as error:
            _log.warning(
                "%s cannot be read (%s): slots that containers have stay, all others begin on "
                "their own card",
                self._path,
                error,
            )
        found: dict[str, Slot] = {}
        for device in self._cdi.devices():
            try:
                found |= _DECODER.decode(self._cdi.environment(device).get(SLOTS, "{}"))
            except DecodeError:
                continue  # somebody broke it, and it is written anew when its container starts
        return found

    def write(self, slots: Slots) -> None:
        """Raises RefusedError; then the former ones stay."""
        try:
            write_whole(self._path, encode(slots))
        except OSError as error:
            raise RefusedError(
                f"{self._path} cannot be written, so nobody would know who has which slot: "
                f"{error.strerror}"
            ) from None


def text_of(slots: Slots) -> str:
    """What is written of a container's own slots."""
    return encode(slots).decode()
