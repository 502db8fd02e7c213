"""Beside Volcano, by a stand-in for it: its own tools close and open queues (Q6)."""

import json

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import ask, metric
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job, released

from .volcano_jobs import command, phase, running, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]


def state(team: Team) -> str:
    return str(team.queue().get("status", {}).get("state", ""))


@pytest.mark.slow
def test_q6_a_queue_that_volcano_closes_takes_nothing_and_ends_nothing(team: Team) -> None:
    """Closing while its job runs, and Closed once that is gone; open again, it goes on."""
    team.has_queue({T1000: 3})
    assert submit(team, volcano_job(team, "runs", 2, T1000)).ok
    team.until(lambda: running(team, "runs") == 2, "it runs")

    assert command(team, "CloseQueue").ok
    team.until(lambda: state(team) == "Closing", "it closes")
    service = team.a_pod("service", 1, T1000).with_spec(schedulerName="volcano")
    team.until(lambda: team.create(service, dry=True).reason == v.Reason.QUEUE_NOT_OPEN, "shut")
    waits = of_a_job(team.a_pod("waits", 1, T1000)).with_spec(schedulerName="volcano")
    assert team.create(waits).reason == v.Reason.QUEUE_NOT_OPEN
    assert not submit(team, volcano_job(team, "late", 1, T1000)).ok  # Volcano's own webhook
    assert running(team, "runs") == 2
    assert phase(team, "runs") == "Running"

    assert command(team, "OpenQueue").ok
    team.until(lambda: state(team) == "Open", "it is open")
    team.until(lambda: team.create(service, dry=True).ok, "it takes pods again")
    assert team.create(service).ok
    team.until(lambda: bool(team.pod("service")["spec"].get("nodeName")), "one is bound")


@pytest.mark.slow
def test_q6_what_waits_at_the_gate_waits_on_while_it_is_closed(team: Team) -> None:
    team.has_queue({T1000: 1})
    first, second = (
        of_a_job(team.a_pod(name, 1, T1000)).with_spec(schedulerName="volcano")
        for name in ("first", "second")
    )
    assert team.create(first).ok
    # While Volcano gives the first one its group, the second one would go before it.
    team.until(lambda: bool(team.pod("first")["spec"].get("nodeName")), "the first runs")
    assert team.create(second).ok
    assert command(team, "CloseQueue").ok
    team.until(lambda: state(team) == "Closing", "it closes")
    service = team.a_pod("service", 1, T1000).with_spec(schedulerName="volcano")
    team.until(lambda: team.create(service, dry=True).reason == v.Reason.QUEUE_NOT_OPEN, "shut")
    assert team.delete(team.a_pod("first")).ok
    told = team.until_told("second", v.Reason.QUEUE_NOT_OPEN)
    assert "Clos" in told["message"]
    assert not released(team.pod("second"))
    assert command(team, "OpenQueue").ok
    team.until(lambda: released(team.pod("second")), "it goes on")


def allocated(team: Team) -> int:
    """What the queue shows, in the annotation."""
    text = team.queue()["metadata"].get("annotations", {}).get(v.STATUS, "{}")
    return sum(int(row["allocated"]) for row in json.loads(text).get("cards", ()))


@pytest.mark.slow
def test_t6_numbers_are_right_when_a_queue_opens_that_could_not_be_written(
    team: Team,
) -> None:
    """Volcano's webhook refuses every update of a queue that is Closing, its annotation too."""
    team.has_queue({T1000: 3})
    for name, pods in (("stays", 2), ("goes", 1)):
        assert submit(team, volcano_job(team, name, pods, T1000)).ok
    team.until(lambda: allocated(team) == 3, "both are shown")
    assert command(team, "CloseQueue").ok
    team.until(lambda: state(team) == "Closing", "it closes")
    jobs = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{team.namespace}/jobs"
    assert ask(team.cluster, "DELETE", f"{jobs}/goes").ok
    team.until(lambda: not running(team, "goes"), "one is gone")
    # Each try that is refused makes the pause before the next one longer.
    team.until(
        lambda: metric(team.cluster, "cardquota_unwritten_queues") > 0, "nobody can write it"
    )
    assert allocated(team) == 3
    assert command(team, "OpenQueue").ok
    team.until(lambda: allocated(team) == 2, "its numbers are right")
