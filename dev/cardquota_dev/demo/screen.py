"""How the demo looks: colours on a terminal, plain lines everywhere else; never wrapped."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from .step_error import StepError

_NO_STYLE = ""
_STYLES = {"Warning:": "yellow", "Error from server": "red"}


class Screen:
    """The output and its style. Failures go to standard error."""

    def __init__(self) -> None:
        self._out, self._errors = _console(stderr=False), _console(stderr=True)

    def heading(self, text: str) -> None:
        """The title of a step."""
        self._out.print(f"\n== {text}", style="bold")

    def says(self, text: str) -> None:
        """A remark for the reader."""
        self._out.print(text)

    def command(self, text: str, who: str) -> None:
        """A command as typed, and its user."""
        self._out.print(f"\n$ {text}   # {who}", style="bold cyan")
        self._flush()

    def output(self, text: str) -> None:
        """The output of a command, unchanged."""
        for line in text.splitlines():
            styles = (style for start, style in _STYLES.items() if line.startswith(start))
            self._out.print(line, style=next(styles, _NO_STYLE))
        self._flush()

    def failure(self, step: str, error: StepError) -> None:
        """The step, what was expected, what was seen."""
        self._flush()
        self._errors.print(f"\ndemo: step {step} failed", style="bold red")
        for name, text in (
            ("tried", error.tried),
            ("expected", error.expected),
            ("seen", error.seen),
        ):
            indented = text.replace("\n", "\n" + " " * 12)
            self._errors.print(f"  {name + ':':9} {indented}")

    def error(self, text: str) -> None:
        """Any other failure."""
        self._flush()
        self._errors.print(f"\ndemo: {text}", style="bold red")

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Something takes a while: on a terminal a spinner shows that it goes on."""
        if self._out.is_terminal:
            with self._out.status(text):
                yield
        else:
            self.says(text)
            self._flush()
            yield

    def _flush(self) -> None:
        self._out.file.flush()


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr,
        force_terminal=stream.isatty(),
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
