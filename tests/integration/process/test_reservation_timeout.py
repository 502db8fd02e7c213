"""E8: what a gang does not use in time is given back; also by a leader that finds it so."""

from pathlib import Path

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, fresh_namespace
from integration.roomy_nodes import T1000
from integration.team import Team, notes

from .running import QUICK, install_base, running, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

FOREIGN = "example.com/theirs"


def test_e8_a_gang_that_does_not_run_in_time_gives_its_reservation_back(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    """One of its members waits at a gate of somebody else's, then is deleted."""
    install_base(bare)
    with fresh_namespace(bare, unique) as namespace:
        team = Team(bare, namespace, unique)
        gang = team.a_gang("gang", 2)
        with running(bare, tmp_path / "first"):
            team.has_queue({T1000: 2})
            assert team.create(gang).ok
            assert team.create(team.a_pod("a", 1, T1000).in_group("gang")).ok
            held = team.a_pod("b", 1, T1000).in_group("gang").gated(FOREIGN)
            assert team.create(held).ok
            team.until_bound("a")
            team.until_open("b")
            assert team.delete(held).ok
            team.until_row(T1000, allocated=1, inqueue=1)
            assert v.RESERVATION in notes(team.get(gang))
        impatient = {**QUICK, "reservationTimeout": 1}
        with running(bare, tmp_path / "second", impatient) as operator:
            told = team.until_told("gang", v.RESERVATION_EXPIRED)
            assert f"<{T1000}> <1>" in told["message"]
            assert "<1> of the <2> pods" in told["message"]
            team.until(lambda: v.RESERVATION not in notes(team.get(gang)), "given back")
            team.until_row(T1000, allocated=1, inqueue=0)
            assert team.create(team.a_pod("other", 1, T1000)).ok
            team.until_open("other")
        assert tracebacks(operator.log) == []
