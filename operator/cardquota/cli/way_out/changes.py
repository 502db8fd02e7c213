"""What a command that changes the cluster has done, or would do: a line for each step, as it is
taken, or data at the end.
"""

from dataclasses import dataclass, field
from typing import Final

from rich.text import Text

from ..output import Output
from ..printing import print_data, print_lines

DRY_RUN: Final = "This is a dry run: nothing is changed. --yes does it:"


@dataclass
class Changes:
    """Guarantees: what was printed as done is done; in a dry run nothing is."""

    yes: bool
    """Whether it is no dry run."""
    output: Output
    _steps: list[dict[str, str]] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def step(self, verb: str, done: str, what: str) -> None:
        """One thing that is done now, or would be. `verb`, `done`: `delete`, `deleted`."""
        if not self.yes and not self._steps:
            self._say(DRY_RUN)
        self._steps.append({"action": verb, "object": what})
        self._say(f"{done if self.yes else verb} {what}")

    def note(self, *texts: str) -> None:
        """What to know about it, printed at the end."""
        self._notes += texts

    def end(self, nothing: str) -> None:
        """`nothing`: what is said if there was nothing to do."""
        if self.output.is_data:
            found = {"dryRun": not self.yes, "steps": self._steps, "notes": self._notes}
            print_data(found, self.output)
            return
        if not self._steps:
            self._say(nothing)
        for text in self._notes:
            self._say(f"- {text}")

    def _say(self, text: str) -> None:
        if not self.output.is_data:
            print_lines([Text(text)])
