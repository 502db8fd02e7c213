"""What a running gang has lost, and what is kept free for whoever replaces it (E6)."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...amounts import Charge, canonical


@dataclass(slots=True, frozen=True, eq=False)
class Vacancy:
    """The place of members that died: what lacks of what the gang held before. Two are equal only
    if they are of the same loss: each has a time of its own.
    """

    queue: str
    before: Charge
    """What the gang held there before the first loss, without what members held that succeeded."""

    def less(self, charge: Charge) -> "Vacancy":
        """When a member that held this has succeeded: nobody comes in its place."""
        left = dict(self.before)
        for dimension, amount in charge:
            left[dimension] = max(0, left.get(dimension, 0) - amount)
        return Vacancy(self.queue, canonical(left))

    def lacking(self, held: Mapping[tuple[str, str], int]) -> Charge:
        """What lacks, where its members hold so much by queue and dimension."""
        rest = ((d, n - held.get((self.queue, d), 0)) for d, n in self.before)
        return tuple((d, n) for d, n in rest if n > 0)
