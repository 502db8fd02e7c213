"""One thing that is stuck, or wrong, in words: for events, the log and the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class StuckKind(StrEnum):
    """In which way it is stuck."""

    TERMINATING = "terminating"
    """A pod that should be gone, and holds quota."""
    GATED = "gated"
    """A pod that has waited at its gate for long."""
    DENIED = "denied"
    """A workload that lacks pods since we refused some."""
    REFUSED = "refused"
    """Somebody may not bind pods, or give them a group."""
    INSTALLATION = "installation"
    """A part of the product that is missing, or is not as it should be."""
    QUEUE = "queue"
    """A queue whose quota cannot be kept, or means something else than was meant."""
    NODE = "node"
    """Cards of a node that are not counted, or not recognised."""
    NAMESPACE = "namespace"
    """A namespace whose label means nothing."""
    PAST = "past"
    """Pods that are charged, and never passed the gate."""
    DRIFT = "drift"
    """Totals that are published and are not those that are counted."""


_UNADVISED: Final = (StuckKind.GATED, StuckKind.DENIED)
"""Those of which the reason says what to do, in words of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckFinding:
    """Texts are safe to show, except names of objects."""

    finding: StuckKind
    kind: str
    """Of the object: `Pod`, `ReplicaSet`, ..."""
    namespace: str
    name: str
    queue: str | None
    """None if it is not known, or if there is none."""
    cards: Mapping[str, int]
    """By card, or by the choice of cards: what a pod holds or asks for, or what all pods ask for
    that are lacking."""
    since: int | None
    """Seconds since 1970: since when it should be gone, waits, or lacks pods. None: not known."""
    age: int | None
    """Seconds since then."""
    node: str
    """Of a pod that has one."""
    reason: str
    """One word: the reason of the event that says so, or `NodeGone`, `NodeNotReady`, ..."""
    what: str
    why: str
    advice: str

    @property
    def message(self) -> str:
        """What is stuck, and why."""
        return f"{self.what}: {self.why}"

    @property
    def sentence(self) -> str:
        """The same, and what to do, unless that is said already."""
        return f"{self.what}: {self.why_and_advice}"

    @property
    def why_and_advice(self) -> str:
        """Equal for all that are stuck for the same reason."""
        said = self.finding in _UNADVISED or self.advice in self.why
        if said:
            return self.why
        between = " " if self.why.endswith("?") else "; "
        return f"{self.why}{between}{self.advice}"
