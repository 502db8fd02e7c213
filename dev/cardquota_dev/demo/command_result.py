"""The result of a command, and what a step expects of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CommandResult:
    """Exit status and output of one command, both streams in the order of writing."""

    status: int
    text: str

    @property
    def rows(self) -> list[dict[str, str]]:
        """The output as the table that `kubectl get` prints: cells by their column's heading, below
        which they begin. Headings are at least two spaces apart. A cell may be empty, and the last
        one contain anything.
        """
        heading, *lines = self.text.splitlines() or [""]
        columns = list(re.finditer(r"\S+(?: \S+)*", heading))
        ends = [*(column.start() for column in columns[1:]), None]
        return [
            {
                column[0]: line[column.start() : end].strip()
                for column, end in zip(columns, ends, strict=True)
            }
            for line in lines
            if line and columns
        ]


@dataclass(frozen=True)
class Expectation:
    """A condition on a result, in words and as a function."""

    words: str
    met: Callable[[CommandResult], bool]


def says(*texts: str) -> Expectation:
    """The output contains each of these texts."""
    return Expectation(
        " and ".join(f'"{text}"' for text in texts),
        lambda answer: all(text in answer.text for text in texts),
    )


def row(**cells: str) -> Expectation:
    """The table has a row with these cells. A cell with a list need only contain the text."""
    return Expectation(
        "a row with " + ", ".join(f"{column} {text}" for column, text in cells.items()),
        lambda answer: any(
            all(text in _items(found.get(column, "")) for column, text in cells.items())
            for found in answer.rows
        ),
    )


def rows(number: int, **cells: str) -> Expectation:
    """The table has that many rows, and each has these cells."""
    return Expectation(
        f"{number} rows, each with " + ", ".join(f"{key} {text}" for key, text in cells.items()),
        lambda answer: (
            len(answer.rows) == number
            and all(found.get(key) == text for found in answer.rows for key, text in cells.items())
        ),
    )


def _items(cell: str) -> list[str]:
    return [cell, *cell.split(", ")]
