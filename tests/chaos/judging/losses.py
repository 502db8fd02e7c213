"""Pods of running Jobs that died, and whether others came in their place (E6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from .calm import Calm

KEPT = 5.0
"""Seconds for which the place of one that died is kept in a run: `release.replacementWait`."""


@dataclass(frozen=True)
class Loss:
    """One of a gang that ran, and needed all of its members, in a queue whose quota stays."""

    at: float
    """Monotonic."""
    pod: str
    replaced: bool
    """Whether it was bound before the patience of who looked was over, or the Job."""


def in_calm(losses: Sequence[Loss], calm: Calm) -> list[Loss]:
    """Those of which something can be said: nothing was wrong for as long as the place was kept. A
    leader that has started since knows of no place, and who makes pods may be late.
    """
    return [loss for loss in losses if calm.seconds(loss.at, loss.at + KEPT) >= KEPT]


def unreplaced(losses: Sequence[Loss]) -> list[str]:
    """What is wrong: the place was kept while Volcano made another pod."""
    return [
        f"another {loss.pod} was not let through in the place of the one that died"
        for loss in losses
        if not loss.replaced
    ]
