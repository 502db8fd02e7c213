"""What is only tried is judged like the real thing, and nobody is charged for it."""

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ask
from integration.roomy_nodes import T1000
from integration.team import Team, released

from .people import TENANT


def test_dry_runs_of_creates_and_changes_are_charged_to_nobody(people: Team) -> None:
    people.has_queue({T1000: 1})
    for number in range(5):
        assert people.create(people.a_pod(f"dry-{number}", 1, T1000), dry=True).ok
    people.until_row(T1000, quota=1, requested=0, inqueue=0)
    pod = people.a_pod("a", 1, T1000)
    assert people.create(pod).ok
    people.until_open("a")
    path = f"{people.path(pod)}/a?dryRun=All"
    for change in (
        {"metadata": {"annotations": {v.ALLOCATED: "{}"}}},
        {"metadata": {"annotations": {v.QUEUE_NAME: "other"}}},
    ):
        reply = ask(people.cluster, "PATCH", path, change, content_type=MERGE, as_user=TENANT)
        assert reply.code == 403


def test_a_dry_run_of_a_deletion_frees_nothing(people: Team) -> None:
    people.has_queue(people.a_queue({T1000: 1}).with_policy("Gate"))
    pod = people.a_pod("a", 1, T1000)
    assert people.create(pod).ok
    people.until_open("a")
    assert ask(people.cluster, "DELETE", f"{people.path(pod)}/a?dryRun=All", as_user=TENANT).ok
    assert people.create(people.a_pod("b", 1, T1000)).ok
    people.until_told("b", v.Reason.INSUFFICIENT_CARD)
    assert not released(people.pod("b"))
