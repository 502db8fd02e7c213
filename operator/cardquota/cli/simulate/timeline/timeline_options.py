"""What the command line asks of a timeline, and whether that makes sense."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....settings import LONGEST_STARVATION_WAIT
from .trace_job import MOST_JOBS

_LARGEST_SEED: Final = 2**63 - 1


@dataclass(slots=True, frozen=True)
class TimelineOptions:
    """Either a trace is read, or `jobs` jobs are made up."""

    trace: str = ""
    """A file, or `-` for standard input; empty: the jobs are made up."""
    jobs: int = 0
    seed: int = 0
    write_trace: Path | None = None
    svg: Path | None = None
    starvation_wait: float | None = None
    """Seconds, instead of the setting `release.starvationWait`; None: the setting."""

    @property
    def problem(self) -> str:
        """Why they cannot be used, in a sentence; empty if they can."""
        if bool(self.trace) == bool(self.jobs):
            return "--timeline needs either --trace FILE or --jobs NUMBER"
        if self.trace and (self.seed or self.write_trace):
            return "--seed and --write-trace are for the made-up jobs of --jobs, not for --trace"
        if not self.trace and not 0 < self.jobs <= MOST_JOBS:
            return f"--jobs {self.jobs}: expected a whole number from 1 to {MOST_JOBS:,}"
        if not 0 <= self.seed <= _LARGEST_SEED:
            return f"--seed {self.seed}: expected a whole number from 0 to {_LARGEST_SEED:,}"
        wait = self.starvation_wait
        if wait is not None and not 0 <= wait <= LONGEST_STARVATION_WAIT:
            most = f"{LONGEST_STARVATION_WAIT:,}"
            return f"--starvation-wait {wait:g}: expected seconds from 0 to {most}"
        return ""

    @property
    def not_without_timeline(self) -> str:
        """What is wrong if there is to be no timeline; empty: nothing is asked of one."""
        if self == TimelineOptions():
            return ""
        return "--trace, --jobs, --seed, --starvation-wait, --write-trace and --svg need --timeline"
