"""Times that do not go together: what is let by all the same is said."""

from typing import Any

import pytest

from cardquota.settings import Settings


@pytest.mark.parametrize(
    ("settle", "patch_timeout", "well"),
    [(3, 2.5, True), (3, 2.6, False), (1.5, 1, True), (1, 1, False), (60, 4, True)],
)
def test_a_new_leader_should_wait_until_the_last_patch_of_its_predecessor_has_ended(
    settle: float, patch_timeout: float, *, well: bool
) -> None:
    """I1: it may be sent at the very deadline, and is stored within its own time-out."""
    times: Any = {
        "leaderElection": {"settle": settle},
        "release": {"patchTimeout": patch_timeout},
    }
    said = Settings(**times).hazards
    assert (said == ()) is well
    if said:
        assert f"leaderElection.settle <{settle:g}> should be at least" in said[0]
        assert f"<{patch_timeout + 0.5:g}>" in said[0]


def test_the_defaults_are_well() -> None:
    assert Settings().hazards == ()
