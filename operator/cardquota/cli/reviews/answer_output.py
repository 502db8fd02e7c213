"""The forms in which an answer is printed."""

from enum import StrEnum


class AnswerOutput(StrEnum):
    """For people, or for programs: then the answer as the operator gave it."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
