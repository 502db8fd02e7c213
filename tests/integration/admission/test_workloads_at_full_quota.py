"""Workloads whose own pods fill the quota: what is said is what comes of it."""

import pytest

from builders.pod import PodBody
from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import change, create


def a_long_pod(team: Team) -> PodBody:
    return team.a_pod("web", 1, T1000).annotated("cardquota.dev/run-seconds", "3600")


@pytest.mark.slow
def test_a_rolling_update_begins_with_the_numbers_that_the_warning_names(team: Team) -> None:
    """E2: three of three run; a label changes, and the new pod has no room beside them."""
    team.has_queue({T1000: 3})
    assert create(team, "Deployment", a_long_pod(team), replicas=3).warnings == ()
    team.until_row(T1000, allocated=3)
    old = {pod["metadata"]["uid"] for pod in team.pods()}

    label = {"template": {"metadata": {"labels": {"version": "two"}}}}
    reply = change(team, "Deployment", "web", label)

    assert reply.warnings[0] == (
        "web: the update cannot begin, no quota is left for it: write maxSurge 0 and "
        "maxUnavailable 1, or ask for more quota"
    )
    assert "requested <1>, total would be <4>, but capability is <3>" in reply.warnings[1]
    assert {pod["metadata"]["uid"] for pod in team.pods()} == old

    helps = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
    assert change(team, "Deployment", "web", helps).warnings == ()

    def renewed() -> bool:
        uids = {pod["metadata"]["uid"] for pod in team.pods()}
        return len(uids) == 3 and not uids & old

    team.until(renewed, "all pods are new")
    again = {"template": {"metadata": {"labels": {"version": "three"}}}}
    assert change(team, "Deployment", "web", again).warnings == ()
