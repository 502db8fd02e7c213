"""A run as it is kept: the history, and beside it all else that it is judged by; what it found."""

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec

from .api import UNTRUSTED
from .clients.lending import CAME_BACK, TAKEN
from .history import HistoryError
from .judging.denials import Denial
from .judging.leeway import Trouble
from .judging.pauses import AT_ALL
from .judging.verdicts import RESERVATION_TIMEOUT
from .replay import ENDED, Replay, replay

HISTORY = "history"
BESIDE = "beside.json"
_SHOWN = 20
_BEFORE = 20.0
"""Seconds before a violation of which is said what went wrong in them."""


class Beside(msgspec.Struct, kw_only=True):
    """What the history does not say of a run, and that it is judged by."""

    seed: int
    breakage: str = ""
    kills: int = 0
    """As many were wanted, so that zero violations mean something."""
    wanted: tuple[str, ...] = ()
    """What should have been too, by its name in the tally."""
    tally: dict[str, int] = {}
    remaining: list[str] = []
    """What was still not as it must be after the quiet."""
    refused_late: int = 0
    happened: list[tuple[float, float, str]] = []
    """What went wrong, from when until when (monotonic)."""
    troubles: list[Trouble] = []
    denials: list[Denial] = []
    reservation_timeout: float = RESERVATION_TIMEOUT
    longest_pause: float = AT_ALL
    volcano: bool = False
    """Whether that scheduled too."""
    invalid: str = ""
    """Why nothing that was found or not can be believed, if so."""


@dataclass
class Report:
    """One run."""

    run: Beside
    replay: Replay | None = None
    kept: str = ""
    """In which folder the history is, and all else, if that is kept."""

    @property
    def tally(self) -> Counter[str]:
        """What happened how often."""
        return Counter(self.run.tally)

    @property
    def clean(self) -> bool:
        """Whether nothing was found, in a run that says something."""
        return not self.says_nothing and not self.findings

    @property
    def code(self) -> int:
        """What the process ends with; a run without a safeguard, with 0 if something was found."""
        if self.says_nothing:
            return 2
        return int(bool(self.findings) != bool(self.run.breakage))

    @property
    def says_nothing(self) -> str:
        """Why not, if so: nothing that was found means something only where enough happened."""
        if self.run.invalid or self.replay is None:
            return self.run.invalid or "nothing was judged"
        if self.findings:
            return ""
        if not self.replay.counts["releases"]:
            return "nothing was released"
        if self.run.volcano and not self.replay.counts["groups enqueued by Volcano, and judged"]:
            return "Volcano enqueued nothing"
        if self.tally["kills"] < self.run.kills:
            return f"{self.run.kills} kills were wanted, and there were {self.tally['kills']}"
        missing = [one for one in self.run.wanted if not self.tally[one]]
        if {CAME_BACK, TAKEN} & {*self.run.wanted} and not self.replay.counts[ENDED]:
            missing.append(ENDED)
        return f"not once: {', '.join(missing)}" if missing else ""

    @property
    def findings(self) -> list[str]:
        """Everything that must not be."""
        found = list(self.run.remaining)
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
        why = [one[2] for one in sorted(self.run.happened) if self._overlap(one, begin, end)]
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
            ("patches refused since their term was over", str(self.run.refused_late)),
            ("not as it must be in the end", str(len(self.run.remaining))),
            ("broken on purpose", self.run.breakage or "nothing"),
            ("scheduled by", "kube-scheduler" + (" and Volcano" if self.run.volcano else "")),
            ("seed", str(self.run.seed)),
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


def write(folder: Path, beside: Beside) -> None:
    """Beside the history in this folder."""
    (folder / BESIDE).write_bytes(msgspec.json.format(msgspec.json.encode(beside)))


def judged(folder: Path) -> Report:
    """The report of what is kept there, judged now.

    A history that is kept alone is judged as if nothing had gone wrong and nobody been refused.
    """
    file = folder / BESIDE
    beside = (
        msgspec.json.decode(file.read_bytes(), type=Beside) if file.exists() else Beside(seed=0)
    )
    report = Report(beside, kept=str(folder))
    if not beside.invalid:
        wrong_times = [(begin, end) for begin, end, _ in beside.happened]
        try:
            report.replay = replay(
                folder / HISTORY,
                beside.denials,
                beside.troubles,
                wrong_times,
                beside.reservation_timeout,
                beside.longest_pause,
                volcano=beside.volcano,
            )
        except HistoryError as error:
            beside.invalid = str(error)
    return report


def copied(folder: Path, where: Path) -> Path:
    """The same, kept somewhere else."""
    for name in (HISTORY, BESIDE):
        if (folder / name).exists():
            shutil.copy(folder / name, where)
    return where
