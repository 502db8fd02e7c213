"""E6 beside Volcano, by a stand-in for it: whose pods go first is the same as without it."""

import pytest

from builders import a_pod
from cardquota.quota import vocabulary as v
from integration.asking import ask
from integration.roomy_nodes import T1000
from integration.team import Team, let_through, of_a_job

from .volcano_jobs import pod_of, running, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]
JOBS = 8


def test_e6_the_replacement_of_a_pod_that_died_goes_before_a_job_that_waits(team: Team) -> None:
    """Volcano's controllers make it some moments later: until then its place is kept."""
    team.has_queue({T1000: 3})
    assert submit(team, volcano_job(team, "runs", 3, T1000)).ok
    team.until(lambda: running(team, "runs") == 3, "it runs")
    assert submit(team, volcano_job(team, "waits", 1, T1000)).ok
    team.until(lambda: pod_of(team, "waits"), "its pod is there")
    team.until_told(pod_of(team, "waits"), v.Reason.INSUFFICIENT_CARD)
    groups = f"/apis/{v.API_GROUP}/{v.VERSION}/namespaces/{team.namespace}/podgroups"

    def reserved() -> bool:
        found = ask(team.cluster, "GET", groups).body["items"]
        return any(v.RESERVATION in (one["metadata"].get("annotations") or {}) for one in found)

    team.until(lambda: not reserved(), "what was reserved for its start is given back")
    for _ in range(2):
        died = pod_of(team, "runs")
        uid = team.pod(died)["metadata"]["uid"]
        assert team.delete(a_pod(died)).ok
        team.until(lambda d=died, u=uid: replaced(team, d, u), "it is replaced")
        assert running(team, "runs") == 3
        assert not let_through(team.pod(pod_of(team, "waits")))
        team.until(lambda: not reserved(), "what was reserved is given back")


def replaced(team: Team, name: str, uid: str) -> bool:
    pod = team.pod(name)
    meta = pod.get("metadata", {})
    return meta.get("uid", uid) != uid and bool(pod["spec"].get("nodeName"))


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
    began: list[str] = []

    def all_have_begun() -> bool:
        fresh = [name for name in names if name not in began and let_through_of(team, name)]
        began.extend(fresh)
        return len(began) == JOBS

    assert team.delete(holder).ok
    team.until(all_have_begun, "all have begun", 120)
    assert began == wanted


def let_through_of(team: Team, name: str) -> bool:
    return let_through(team.pod(pod_of(team, name)))
