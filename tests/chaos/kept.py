"""A run as it is kept: the history, and beside it all else that it is judged by."""

import shutil
from collections import Counter
from pathlib import Path

import msgspec

from .history import HistoryError
from .judging.denials import Denial
from .judging.leeway import Trouble
from .judging.pauses import AT_ALL
from .judging.verdicts import RESERVATION_TIMEOUT
from .replay import replay
from .report import Report

HISTORY = "history"
BESIDE = "beside.json"


class Beside(msgspec.Struct, kw_only=True):
    """What the history does not say."""

    seed: int
    breakage: str = ""
    kills: int = 0
    tally: dict[str, int] = {}
    remaining: list[str] = []
    refused_late: int = 0
    happened: list[tuple[float, float, str]] = []
    troubles: list[Trouble] = []
    denials: list[Denial] = []
    reservation_timeout: float = RESERVATION_TIMEOUT
    longest_pause: float = AT_ALL
    volcano: bool = False
    """Whether that scheduled too."""
    invalid: str = ""


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
    report = Report(beside.seed, beside.breakage, Counter(beside.tally), volcano=beside.volcano)
    report.remaining, report.refused_late = beside.remaining, beside.refused_late
    report.happened, report.kills, report.invalid = beside.happened, beside.kills, beside.invalid
    report.kept = str(folder)
    if not beside.invalid:
        wrong_times = [(begin, end) for begin, end, _ in beside.happened]
        history = folder / HISTORY
        try:
            report.replay = replay(
                history,
                beside.denials,
                beside.troubles,
                wrong_times,
                beside.reservation_timeout,
                beside.longest_pause,
                volcano=beside.volcano,
            )
        except HistoryError as error:
            report.invalid = str(error)
    return report


def copied(folder: Path, where: Path) -> Path:
    """The same, kept somewhere else."""
    for name in (HISTORY, BESIDE):
        if (folder / name).exists():
            shutil.copy(folder / name, where)
    return where
