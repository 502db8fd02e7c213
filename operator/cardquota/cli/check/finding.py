"""One thing that is wrong, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """What is wrong."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Texts are safe to show, except names of objects."""

    finding: FindingKind
    kind: str
    """Of the object: `Pod`, `ReplicaSet`, ..."""
    namespace: str
    name: str
    queue: str | None
    """None if it is not known, or if there is none."""
    cards: Mapping[str, int]
    """By card: what is held."""
    since: int | None
    """Seconds since 1970. None: not known, or nobody asks."""
    age: int | None
    """Seconds since then."""
    reason: str
    """One word: the reason of the event that says so, or one of its own."""
    what: str
    why: str
    advice: str

    @property
    def message(self) -> str:
        """What is wrong, and why."""
        return f"{self.what}: {self.why}"

    @property
    def why_and_advice(self) -> str:
        """Equal for all with the same reason. What to do is said once."""
        if self.advice in self.why:
            return self.why
        between = " " if self.why.endswith("?") else "; "
        return f"{self.why}{between}{self.advice}"
