"""How a command prints its results: lines for people, or JSON for programs."""

import json
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text


def print_json(found: object) -> None:
    """Plain data, indented."""
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


def print_lines(lines: Iterable[Text]) -> None:
    """Never wraps: a terminal folds long lines itself, and a pipe gets whole sentences."""
    console = Console(force_terminal=sys.stdout.isatty(), highlight=False, soft_wrap=True)
    for line in lines:
        console.print(line)
