"""How far a releaser has come: what a test waits for, and the product never asks."""

from typing import Any

from cardquota.control.release import GateReleaser
from cardquota.control.release.pacing import Retries


def is_busy(releaser: GateReleaser) -> bool:
    """Whether anything is under way, or news are left."""
    return bool(releaser._attempts.tasks) or releaser._wake.is_set()  # noqa: SLF001


def is_idle(releaser: GateReleaser) -> bool:
    """Whether it is not busy, and nothing is to be tried again later. What was tried again, and now
    waits for something else, it still remembers for a while.
    """
    return not is_busy(releaser) and not any(unfinished(releaser).values())


def remembers_nothing(releaser: GateReleaser) -> bool:
    """Whether it is idle, and has forgotten what once failed."""
    return is_idle(releaser) and not any(len(one) for one in _retries(releaser).values())


def unfinished(releaser: GateReleaser) -> dict[str, list[str]]:
    """What is under way, and what is to be tried again later, in words."""
    waiting = {what: list(one._waiting) for what, one in _retries(releaser).items()}  # noqa: SLF001
    return {
        **{what: [str(key) for key in keys] for what, keys in waiting.items()},
        "tasks": [str(task) for task in releaser._attempts.tasks],  # noqa: SLF001
    }


def _retries(releaser: GateReleaser) -> dict[str, Retries[Any]]:
    background = releaser._background  # noqa: SLF001
    return {
        "pods": releaser._attempts.retries,  # noqa: SLF001
        "gangs": releaser.groups._retries,  # noqa: SLF001
        "groups": background._group_line.retries,  # noqa: SLF001
        "stamps": background._stamp_line.retries,  # noqa: SLF001
    }
