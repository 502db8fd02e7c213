"""A card of a node, and who can list them. Memory in MiB."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

OF_APPLICATIONS: Final = (13, 31, 43, 45, 68, 109)
"""Faults (XIDs) that an application causes by its own fault; the card stays usable."""


class InventoryError(Exception):
    """The cards cannot be listed; the text says why, and what to do."""


class NoDriverError(InventoryError):
    """The node has no driver of cards, or it is not loaded yet."""


class Mig(StrEnum):
    """Whether a card is divided into slices. What is changed takes a reset of the card."""

    UNSUPPORTED = "unsupported"
    DISABLED = "disabled"
    ENABLED = "enabled"


class CardProcess(NamedTuple):
    """A process that uses a card."""

    pid: int
    """As whoever lists the cards sees it: within another container it has another one."""
    memory: int | None
    """What it holds, MiB; None: the driver does not say."""


@dataclass(slots=True, frozen=True, kw_only=True)
class NodeCard:
    """One card of a node, as it was when it was asked."""

    index: int
    """Its place in the driver's order, which a reboot may change: `uuid` is the card's name."""
    uuid: str
    product: str
    """As the node's label has it: without spaces."""
    path: str
    """Its device node."""
    memory: int
    """In all, MiB, with what the driver keeps for itself."""
    used: int = 0
    """What processes hold, MiB."""
    utilization: int | None = None
    """Percent of the last sample in which it worked; None: the driver does not say, as while the
    card is divided."""
    mig: Mig = Mig.UNSUPPORTED
    slices: tuple[str, ...] = ()
    """UUIDs of its slices."""
    processes: tuple[CardProcess, ...] = ()
    problem: str = ""
    """Why no pod can use it; empty: it is healthy."""

    @property
    def healthy(self) -> bool:
        """Whether pods can use it."""
        return not self.problem


class Inventory(Protocol):
    """Lists the cards of a node. Both implementors may be asked from any thread."""

    @property
    def source(self) -> str:
        """Where the cards stand, for people."""

    def cards(self) -> tuple[NodeCard, ...]:
        """All cards, by index. Blocks for some milliseconds a card. Raises InventoryError; of a
        single card that cannot be asked, `problem` says why.
        """
