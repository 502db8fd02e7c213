"""How long a controller pauses after each refusal, and when it gives up."""

from dataclasses import dataclass
from typing import Final

FIRST_PAUSE: Final = 0.005
"""Seconds after the first refusal."""

TRIES: Final = 15
"""How often a refused step is tried again."""


@dataclass(frozen=True)
class RetryPauses:
    """Each pause is twice the one before: 15 of them add up to 2 min 44 s."""

    longest: float | None = None
    """Seconds that no pause exceeds, for tests that do not want to wait. None: as Volcano."""

    def after(self, refusals: int) -> float | None:
        """Seconds until the next try after so many refusals, the first being 1. None: no more."""
        if refusals > TRIES:
            return None
        pause = FIRST_PAUSE * float(2 ** (refusals - 1))
        return pause if self.longest is None else min(pause, self.longest)
