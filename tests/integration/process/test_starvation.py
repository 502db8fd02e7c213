"""E6: small pods pass a big gang for ever, or only until it has waited too long."""

from pathlib import Path

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, fresh_namespace
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job, released

from .running import QUICK, install_base, running, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]


def test_e6_a_big_gang_starts_once_as_much_has_freed_as_it_needs(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    """With the setting off a small pod that came later takes the card that frees first."""
    install_base(bare)
    with fresh_namespace(bare, unique) as namespace:
        team = Team(bare, namespace, unique)

        def small(name: str) -> PodBody:
            pod = of_a_job(team.a_pod(name, 1, T1000))
            assert team.create(pod).ok
            return pod

        off = {**QUICK, "release": {**QUICK["release"], "starvationWait": 0}}
        with running(bare, tmp_path / "first", off) as operator:
            team.has_queue({T1000: 3})
            first, second, third = (small(f"first-{number}") for number in range(3))
            team.until_open("first-0", "first-1", "first-2")
            assert team.create(team.a_gang("gang", 3)).ok
            for name in "abc":
                assert team.create(team.a_pod(name, 1, T1000).in_group("gang")).ok
            team.until_told("gang", v.Reason.INSUFFICIENT_CARD)
            late = small("late-0")
            team.until_told("late-0", v.Reason.INSUFFICIENT_CARD)
            assert team.delete(first).ok
            team.until_open("late-0")
        assert tracebacks(operator.log) == []
        patient = {**QUICK, "release": {**QUICK["release"], "starvationWait": 1}}
        with running(bare, tmp_path / "second", patient) as operator:
            assert team.delete(second).ok
            team.until_row(T1000, allocated=2, inqueue=0)
            small("late-1")
            told = team.until_told("late-1", v.Reason.BEHIND)
            assert f"keeps <{T1000}> for group <{namespace}/gang>" in told["message"]
            for pod in (third, late):
                assert not released(team.pod("late-1"))
                assert team.delete(pod).ok
            team.until_open("a", "b", "c")
            assert not released(team.pod("late-1"))
        assert tracebacks(operator.log) == []
