"""V7: gangs that have room on several cards together, beside the stand-in's scheduler."""

from pathlib import Path

import pytest
import yaml

from integration.asking import ask
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, let_through

from .conftest import CONFIGURATION, NAMESPACE
from .volcano_jobs import running, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
OFF = {"configurations": [{"name": "allocate", "arguments": {"predicateErrorCacheEnable": False}}]}


def told(team: Team) -> str:
    path = f"/api/v1/namespaces/{team.namespace}/events?fieldSelector=reason=MixedCards"
    return "".join(event["message"] for event in ask(team.cluster, "GET", path).body["items"])


@pytest.mark.slow
def test_a_mixture_waits_and_runs_once_volcano_is_set_to_bind_it(
    team: Team, scheduler_conf: Path
) -> None:
    team.has_queue({T1000: 1, T2000: 1})
    assert submit(team, volcano_job(team, "both", 2, f"{T1000}|{T2000}")).ok
    team.until(lambda: "could not be read" in told(team), "it is told what to set")
    assert f"<{NAMESPACE}/{CONFIGURATION}>" in told(team)
    assert not any(map(let_through, team.pods()))
    # Whoever has room goes on meanwhile.
    assert submit(team, volcano_job(team, "one", 1, T1000, runs=1)).ok
    team.until(lambda: running(team, "one") == 1, "another job runs")
    text = yaml.safe_dump(OFF)
    scheduler_conf.write_text(text)
    stored = {"metadata": {"name": CONFIGURATION}, "data": {"volcano-scheduler.conf": text}}
    assert ask(team.cluster, "POST", MAPS, stored).ok
    try:
        # What was read is believed for half a minute, and it is looked at again ever more rarely.
        team.until(lambda: running(team, "both") == 2, "both are bound", 150)
    finally:
        scheduler_conf.unlink()
        assert ask(team.cluster, "DELETE", f"{MAPS}/{CONFIGURATION}").ok
