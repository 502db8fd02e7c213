"""Times that do not go together are refused before anything starts."""

from pathlib import Path

import pytest

from cardquota.settings import Settings, SettingsError, load
from chaos.lengths import SHORT


@pytest.mark.parametrize(
    ("settle", "patch_timeout", "well"),
    [(3, 2.5, True), (3, 2.6, False), (1.5, 1, True), (1, 1, False), (60, 4, True)],
)
def test_a_new_leader_waits_until_the_last_patch_of_its_predecessor_has_ended(
    tmp_path: Path, settle: float, patch_timeout: float, *, well: bool
) -> None:
    """I1: it may be sent at the very deadline, and is stored within its own time-out."""
    config = tmp_path / "config.yaml"
    config.write_text(
        f"leaderElection: {{settle: {settle}}}\nrelease: {{patchTimeout: {patch_timeout}}}\n"
    )
    if well:
        assert load(config).leader_election.settle == settle
        return
    with pytest.raises(SettingsError) as error:
        load(config)
    (line,) = str(error.value).splitlines()
    assert "leaderElection.settle must be at least release.patchTimeout + 0.5" in line


def test_the_defaults_and_a_short_term_go_together() -> None:
    for config in ({}, SHORT.config):
        Settings(**config)
