"""What a run found, for people."""

from collections import Counter
from dataclasses import dataclass, field

from .api import UNTRUSTED
from .replay import Replay

_SHOWN = 20
_BEFORE = 20.0
"""Seconds before a violation of which is said what went wrong in them."""


@dataclass
class Report:
    """One run."""

    seed: int
    breakage: str
    tally: Counter[str]
    replay: Replay | None = None
    remaining: list[str] = field(default_factory=list)
    """What was still not as it must be after the quiet."""
    refused_late: int = 0
    happened: list[tuple[float, float, str]] = field(default_factory=list)
    """What went wrong, from when until when (monotonic)."""
    kills: int = 0
    """As many were wanted, so that zero violations mean something."""
    invalid: str = ""
    """Why nothing that was found or not can be believed, if so."""
    kept: str = ""
    """In which folder the history is, and all else, if that is kept."""
    volcano: bool = False
    """Whether that scheduled too."""

    @property
    def clean(self) -> bool:
        """Whether nothing was found, in a run that says something."""
        return not self.says_nothing and not self.findings

    @property
    def code(self) -> int:
        """What the process ends with; a run without a safeguard, with 0 if something was found."""
        if self.says_nothing:
            return 2
        return int(bool(self.findings) != bool(self.breakage))

    @property
    def says_nothing(self) -> str:
        """Why not, if so: nothing that was found means something only where enough happened."""
        if self.invalid or self.replay is None:
            return self.invalid or "nothing was judged"
        if self.findings:
            return ""
        if not self.replay.counts["releases"]:
            return "nothing was let through"
        if self.volcano and not self.replay.counts["groups enqueued by Volcano, and judged"]:
            return "Volcano enqueued nothing"
        if self.tally["kills"] < self.kills:
            return f"{self.kills} kills were wanted, and there were {self.tally['kills']}"
        return ""

    @property
    def findings(self) -> list[str]:
        """Everything that must not be."""
        found = list(self.remaining)
        if self.tally[UNTRUSTED]:
            found.append(f"{UNTRUSTED}: {self.tally[UNTRUSTED]}")
        if self.replay is not None:
            found += [
                f"{violation} ({self._during(violation.at - _BEFORE, violation.at)})"
                for violation in self.replay.violations
            ]
            found += self.replay.too_long
            found += [
                f"denied wrongly: {d.amount} of {d.place}: {d.text}" for d in self.replay.wrong
            ]
        return found

    @staticmethod
    def _overlap(one: tuple[float, float, str], begin: float, end: float) -> bool:
        return one[0] < end and begin < one[1]

    def _pause(self, replay: Replay) -> str:
        """How long, and what went wrong meanwhile."""
        during = self._during(replay.pause_at - replay.pause, replay.pause_at)
        return f"{replay.pause:.1f} s ({during})"

    def _during(self, begin: float, end: float) -> str:
        """What went wrong in some time (monotonic)."""
        why = [one[2] for one in sorted(self.happened) if self._overlap(one, begin, end)]
        return ", ".join(why) or "nothing went wrong then"

    def text(self) -> str:
        """All of it, the seed last."""
        rows = [(name, str(self.tally[name])) for name in sorted(self.tally)]
        if self.replay is not None:
            counts = self.replay.counts
            rows += [(f"history: {name}", str(counts[name])) for name in sorted(counts)]
            rows += [
                ("longest pause while something would have fit", self._pause(self.replay)),
                ("denials not judged: a fault had made views old", str(self.replay.unjudged)),
                ("wrong denials", str(len(self.replay.wrong))),
                ("violations", str(len(self.replay.violations))),
            ]
        rows += [
            ("patches refused since their term was over", str(self.refused_late)),
            ("not as it must be in the end", str(len(self.remaining))),
            ("broken on purpose", self.breakage or "nothing"),
            ("scheduled by", "kube-scheduler" + (" and Volcano" if self.volcano else "")),
            ("seed", str(self.seed)),
        ]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:{width}}  {value}" for name, value in rows]
        lines += [f"FOUND: {what}" for what in self.findings[:_SHOWN]]
        if len(self.findings) > _SHOWN:
            lines.append(f"... and {len(self.findings) - _SHOWN} more")
        if self.findings and self.kept:
            lines.append(f"all that this was judged by is kept in {self.kept}")
        if self.says_nothing:
            lines.append(f"INVALID, says nothing: {self.says_nothing}")
        return "\n".join(lines)
