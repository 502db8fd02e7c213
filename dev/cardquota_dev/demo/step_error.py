"""A step that did not show what it says."""

from collections.abc import Iterable

from .answer import Answer, Expectation


class StepError(Exception):
    """What was tried, what was expected, what was seen. `play` adds which step it was."""

    def __init__(self, tried: str, expected: str, seen: str) -> None:
        super().__init__(tried, expected, seen)
        self.tried, self.expected, self.seen = tried, expected, seen


def check(command: str, answer: Answer, expected: Iterable[Expectation]) -> None:
    """Raises StepError that names what is not met."""
    unmet = [one.words for one in expected if not one.met(answer)]
    if unmet:
        seen = f"exit status {answer.status}\n{answer.text}"
        raise StepError(command, "; ".join(unmet), seen.rstrip())
