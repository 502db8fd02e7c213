"""A step that did not show what it says."""

from collections.abc import Iterable

from .command_result import CommandResult, Expectation


class StepError(Exception):
    """What was tried, what was expected, what was seen. `run` adds which step it was."""

    def __init__(self, tried: str, expected: str, seen: str) -> None:
        super().__init__(tried, expected, seen)
        self.tried, self.expected, self.seen = tried, expected, seen


def check(command: str, answer: CommandResult, expected: Iterable[Expectation]) -> None:
    """Raise StepError with the expectations that are not met."""
    unmet = [one.words for one in expected if not one.met(answer)]
    if unmet:
        seen = f"exit status {answer.status}\n{answer.text}"
        raise StepError(command, "; ".join(unmet), seen.rstrip())
