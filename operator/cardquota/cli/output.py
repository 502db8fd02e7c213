"""The forms in which results are printed."""

from enum import StrEnum


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
