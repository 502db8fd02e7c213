"""R1 to R4 on the real API server: who scales a workload is told at once what fits."""

import pytest

from cardquota.quota import vocabulary as v
from cardquota.settings import Scaling
from cardquota_dev.testing import eventually
from integration.asking import MERGE, ApiReply, Object, ask, metric
from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import create, path

from .autoscaler import replicas

HPA, MANAGER = Scaling().autoscalers
MASTERS = ("system:masters",)
"""The rights of the autoscaler are not what is tested."""


def scale(
    team: Team, kind: str, name: str, replicas: int, *, by: str = "", dry_run: bool = False
) -> ApiReply:
    """As `kubectl scale` does it."""
    target = f"{path(team, kind)}/{name}/scale" + ("?dryRun=All" if dry_run else "")
    body = {"spec": {"replicas": replicas}}
    groups = MASTERS if by else ()
    return ask(
        team.cluster, "PATCH", target, body, content_type=MERGE, as_user=by, as_groups=groups
    )


def settled(team: Team, kind: str, name: str) -> bool:
    """Its controller has nothing to do."""
    found = ask(team.cluster, "GET", f"{path(team, kind)}/{name}").body
    return bool(found["status"].get("observedGeneration") == found["metadata"]["generation"])


def cuts(team: Team, name: str) -> list[Object]:
    """The events on a workload that say that an autoscaler got a part."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    return [
        event
        for event in events
        if event["reason"] == v.SCALE_CUT and event["involvedObject"]["name"] == name
    ]


@pytest.mark.slow
def test_r1_people_are_refused_and_told_how_many_fit(team: Team) -> None:
    kinds = ("Deployment", "StatefulSet", "ReplicaSet")
    queues = {kind: team.has_queue({T1000: 3}, kind.lower()) for kind in kinds}
    for kind in kinds:
        create(team, kind, team.a_pod("web", 1, T1000, kind.lower()), replicas=1)
    for kind, queue in queues.items():
        team.until_row(T1000, kind.lower(), allocated=1)
        reply = scale(team, kind, "web", 10)
        assert reply.code == 403
        assert (
            f"Queue <{queue}> has insufficient <{T1000}> quota: "
            "requested <9>, total would be <10>, but capability is <3>; "
            f"3 of 10 replicas of {kind} <web> fit: scale it to 3 at most"
        ) in reply.message
        assert replicas(team, "web", kind) == 1
    for wanted in (3, 0):
        for kind in kinds:
            assert scale(team, kind, "web", wanted).ok
        for kind in kinds:
            team.until_row(T1000, kind.lower(), allocated=wanted)
    done = team.cluster.kubectl(
        "scale", "deployment/web", "--replicas=10", f"--namespace={team.namespace}"
    )
    assert done.returncode == 1
    assert 'admission webhook "scales.cardquota.volcano.sh" denied the request: ' in done.stderr
    assert "3 of 10 replicas of Deployment <web> fit" in done.stderr


@pytest.mark.parametrize("autoscaler", [HPA, MANAGER])
def test_r2_an_autoscaler_gets_the_part_that_fits_and_one_event_says_so(
    team: Team, autoscaler: str
) -> None:
    team.has_queue({T1000: 3})
    create(team, "Deployment", team.a_pod("web", 1, T1000), replicas=1)
    team.until_row(T1000, allocated=1)
    assert scale(team, "Deployment", "web", 10, by=autoscaler, dry_run=True).ok
    granted = scale(team, "Deployment", "web", 10, by=autoscaler)
    assert granted.ok
    assert granted.body["spec"]["replicas"] == 3
    assert granted.warnings[0] == "Deployment <web>: granted 3 of 10 replicas"
    team.until_row(T1000, allocated=3)
    for _ in range(3):
        refused = scale(team, "Deployment", "web", 10, by=autoscaler)
        assert refused.code == 403
        assert "3 of 10 replicas of Deployment <web> fit" in refused.message
    (event,) = eventually(lambda: cuts(team, "web"), "the event")
    assert event["message"].startswith("granted 3 of 10 replicas: Queue <")
    assert event["involvedObject"]["kind"] == "Deployment"
    shown = ask(team.cluster, "GET", f"{path(team, 'Deployment')}/web").body["metadata"]["uid"]
    assert event["involvedObject"]["uid"] == shown
    assert len(cuts(team, "web")) == 1


def test_r1_without_cards_and_queue_everything_scales_freely(team: Team) -> None:
    create(team, "Deployment", team.a_pod("web").in_queue(None), replicas=0)
    # A write of its controller in the same moment would be one review more.
    eventually(lambda: settled(team, "Deployment", "web"), "the controller has seen it")
    before = metric(team.cluster, "cardquota_admission_reviews_total", kind="scale")
    assert scale(team, "Deployment", "web", 5).ok
    assert metric(team.cluster, "cardquota_admission_reviews_total", kind="scale") == before + 1
    eventually(lambda: settled(team, "Deployment", "web"), "the controller has seen it")
    assert scale(team, "Deployment", "web", 1).ok
    assert metric(team.cluster, "cardquota_admission_reviews_total", kind="scale") == before + 1
