"""What makes each breakage likely to be found: the faults that it is the safeguard against."""

from dataclasses import dataclass, replace

from ..lengths import Lengths


@dataclass(frozen=True)
class Focus:
    """Some faults instead of all."""

    faults: tuple[str, ...]
    kill: str = ""
    """One kind of kill instead of each in turn."""

    def lengths(self, lengths: Lengths) -> Lengths:
        """The same run with these faults alone, and kills as soon as they make sense."""
        shortest, longest = lengths.between_kills
        return replace(
            lengths,
            faults=self.faults,
            between_kills=(shortest / 2, longest / 2) if self.kill else lengths.between_kills,
            releases_before_a_kill=min(lengths.releases_before_a_kill, 50),
        )  # fmt: skip


FOCUS = {
    "no-fence": Focus(("node labels gone",), "with patches on their way"),
    "frozen-parameter": Focus(("node labels gone",)),
    "no-precondition": Focus(("patches held", "connections cut")),
    "uncharged-by-reading": Focus(("patches held",)),
    "no-catch-up": Focus(("node labels gone",), "while the others are told nothing"),
    "charged-after": Focus(("connections cut",)),
    "no-write-ahead": Focus(("connections cut",)),
    "dropped-event": Focus(("node labels gone",)),
    "phantom-reservation": Focus(("node labels gone",)),
    "unjudged-enqueue": Focus(("node labels gone",)),
    "added-reservation": Focus(("node labels gone",)),
    "endless-reservation": Focus(("node labels gone",)),
    "strangers-in-the-way": Focus(("node labels gone",)),
    "forged-charge": Focus(("node labels gone",)),
    "lent-to-all": Focus(("node labels gone",)),
    "unbounded-bodies": Focus(("bodies at once",)),
    "sleepers-sleep": Focus(("node labels gone",)),
    "waiting-off-by-one": Focus(("node labels gone",)),
    "holders-stay": Focus(("node labels gone",)),
    "uncharged-binding": Focus(("node labels gone",)),
    "unsettled-binding": Focus(("patches held",)),
    "unnamed-pod": Focus(("patches held",)),
    "kinds-meet": Focus(("node labels gone",)),
    "broken-card": Focus(("node labels gone",)),
    "volcano-vote-unreserved": Focus(("node labels gone",)),
    "volcano-refused-jobs": Focus(("node labels gone",)),
}
"""By breakage."""
