"""How a command prints its results: lines for people, or JSON or YAML for programs."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from ..cluster.api.access import AccessError
from ..quota.words import show
from .output import ExitCode, Output

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""What a terminal would take for a command: escapes, line breaks, and marks that change the
direction of text."""
_WIDTH: Final = 20
"""Characters of a bar."""


class _Console(Console):
    """A console that leaves a closed pipe to the command group."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Standard output: coloured on a terminal alone, and not where `NO_COLOR` is set."""
    return _Console(force_terminal=sys.stdout.isatty(), highlight=False, soft_wrap=True)


def print_data(found: object, output: Output) -> None:
    """Plain data as JSON, indented, or YAML. Both have ASCII alone, which no terminal acts on."""
    if output is not Output.YAML:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    import yaml

    # Written in C where the library is there: 1,000 queues take seconds otherwise.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    # Through JSON, so that enumerations and tuples are what they are there.
    plain = json.loads(json.dumps(found))
    yaml.dump(plain, sys.stdout, Dumper=dumper, sort_keys=False, default_flow_style=False)


def print_lines(lines: Iterable[Text]) -> None:
    """Never wraps: a terminal folds long lines itself, and a pipe gets whole sentences.

    Nothing that stands in an object or in an answer reaches the terminal as a command to it.
    """
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{safe(line).plain}\n" for line in lines)
        return
    shown = console()
    for line in lines:
        shown.print(safe(line))


def safe(line: Text) -> Text:
    """The line without characters that are more than text."""
    if _UNSAFE.search(line.plain):
        line.plain = _UNSAFE.sub("?", line.plain)
    return line


def in_one_line(text: str) -> str:
    """A text of any origin on one line, safe, and with a bound."""
    return show(" ".join(text.split()), most=1_000)


def bar(held: int, whole: int) -> str:
    """How much of it is held: full from the whole on, and empty only if nothing is."""
    held = max(0, held)
    filled = _WIDTH * (held > 0) if held >= whole else -(-_WIDTH * held // whole)
    return "█" * filled + "░" * (_WIDTH - filled)


def table(rows: Sequence[Sequence[str]]) -> Iterator[Text]:
    """One line per row, each column as wide as its widest cell. The first row is the head.

    Never cut or wrapped. All rows have as many cells as the head.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield Text("   ".join(cells).rstrip(), style="" if i else "bold")


def failed(error: Exception) -> int:
    """Say what is wrong. Returns the exit code."""
    sys.stderr.write(f"cardquota: {in_one_line(str(error))}\n")
    return ExitCode.NOT_UNDERSTOOD if isinstance(error, AccessError) else ExitCode.FAILED
