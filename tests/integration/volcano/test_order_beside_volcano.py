"""E6 beside Volcano, by a stand-in for it: whose pods go first is the same as without it."""

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import ask
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job, released

from .volcano_jobs import pod_of, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]
JOBS = 5


def test_e6_jobs_start_in_the_order_of_their_groups_and_then_of_names(team: Team) -> None:
    team.has_queue({T1000: 1})
    holder = of_a_job(team.a_pod("holder", 1, T1000)).with_spec(schedulerName="volcano")
    assert team.create(holder).ok
    team.until_bound("holder")
    names = [f"job-{chr(ord('z') - number)}" for number in range(JOBS)]
    for name in names:
        assert submit(team, volcano_job(team, name, 1, T1000, runs=1)).ok
    team.until(lambda: all(pod_of(team, name) for name in names), "all pods are there")
    for name in names:
        team.until_told(pod_of(team, name), v.Reason.INSUFFICIENT_CARD)
    path = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{team.namespace}/podgroups"
    groups = [one["metadata"] for one in ask(team.cluster, "GET", path).body["items"]]
    jobs = [one for one in groups if one["name"].startswith("job-")]
    wanted = [
        one["name"][: len(names[0])]
        for one in sorted(jobs, key=lambda one: (one["creationTimestamp"], one["name"]))
    ]
    assert sorted(wanted) == sorted(names)
    pods = {pod_of(team, name): name for name in names}
    with team.watching() as watch:

        def begun() -> list[str]:
            """In the order in which their gates opened."""
            opened = [one.name for one in list(watch.seen) if released(one.object)]
            return [pods[name] for name in dict.fromkeys(opened) if name in pods]

        assert team.delete(holder).ok
        team.until(lambda: len(begun()) == JOBS, "all have begun", 120)
    assert begun() == wanted
