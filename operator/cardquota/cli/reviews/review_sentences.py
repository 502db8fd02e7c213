"""Why the operator has not answered, and the heads of what it has."""

from typing import Final

from ...quota.words import show

NOT_INSTALLED: Final = "cardquota is not installed here, or is older than this plugin"
NOBODY_ANSWERS: Final = (
    "no operator answers: see whether it runs, and whether its webhook configuration "
    "cardquota-reviews exists (`cardquota manifests` prints it)"
)
NOT_UNDERSTOOD: Final = (
    "the operator's answer cannot be read: the operator and this plugin are probably of different "
    "releases"
)
NOBODY_HOLDS: Final = "Nobody holds anything."
NOBODY_WAITS: Final = "Nobody waits."
NO_CARDS: Final = "No cards: the queue has no quota, and nobody holds any."


def forbidden(right: str) -> str:
    """The user lacks this right."""
    return f"you may not ask this: it needs the right to create {right}"


def operator_silent(message: str) -> str:
    """The API server does not reach the webhook."""
    return f"the operator does not answer: {show(message, most=300)}"


def not_reached(message: str) -> str:
    """The API server has not answered."""
    return f"the API server does not answer: {show(message, most=300)}"


def quota_problem(problem: str) -> str:
    """The quota that is written cannot be read."""
    return f"the quota cannot be read, the last good one is in force: {show(problem, most=300)}"


def more(number: int, what: str) -> str:
    """A list is cut."""
    return f"and {number} more {what}"
