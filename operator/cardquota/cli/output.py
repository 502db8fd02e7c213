"""The forms in which results are printed, and the codes with which commands end."""

from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Final, NamedTuple


class Output(StrEnum):
    """How results are printed: lines for people, or data for programs."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    WIDE = "wide"
    """Text with more columns."""

    @property
    def is_data(self) -> bool:
        """Whether it is for programs."""
        return self in (Output.JSON, Output.YAML)


class PlainOutput(StrEnum):
    """The same for commands that have no more to show."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


class ClusterChoice(NamedTuple):
    """The cluster that the options select, as kubectl takes them."""

    kubeconfig: Path | None = None
    context: str = ""


class ExitCode(IntEnum):
    """How a command has ended."""

    DONE = 0
    FAILED = 1
    """Something was asked for and could not be had: a file, an answer of the cluster."""
    NOT_UNDERSTOOD = 2
    """The command line or the configuration is wrong, or no cluster is named."""
    FOUND = 3
    """`check` has found something."""
    INTERRUPTED = 130
    """Ctrl-C."""
    NOBODY_READS = 141
    """Whoever read the output has ended, as `head` does. Other programs end so too."""


EXIT_CODES: Final = (
    "Exit codes of all commands: 0 done; 1 failed; 2 wrong command line, configuration, kubeconfig "
    "or context; 3 check found a problem; 130 interrupted; 141 the program that reads the output "
    "has ended."
)
"""For people."""
