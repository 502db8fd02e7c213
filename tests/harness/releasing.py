"""How far a releaser has come: what a test waits for, and the product never asks."""

from cardquota.control.release import GateReleaser


def is_busy(releaser: GateReleaser) -> bool:
    """Whether anything is under way, or news are left."""
    return bool(releaser._attempts.tasks) or releaser._wake.is_set()  # noqa: SLF001


def is_idle(releaser: GateReleaser) -> bool:
    """Whether it is not busy, and nothing is to be tried again later."""
    background = releaser._background  # noqa: SLF001
    retries = (
        releaser._attempts.retries,  # noqa: SLF001
        releaser.groups._retries,  # noqa: SLF001
        background._group_line.retries,  # noqa: SLF001
        background._stamp_line.retries,  # noqa: SLF001
    )
    return not is_busy(releaser) and not any(len(one) for one in retries)
