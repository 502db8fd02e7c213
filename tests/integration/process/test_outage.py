"""All replicas die: who is held up, who is not, and that nothing is wrong once they are back.

For both ways of setting the gate. With the webhook, managed pods are refused in words that name
us; with the policy they are created, gated, and wait.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import yaml

from builders import a_pod
from cardquota.install.kubernetes_versions import GATE_BY_POLICY
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import ApiReply, Object, ask, metric
from integration.gate_table import PLENTY, TABLE, born, namespaces
from integration.release.test_burst import most_at_once
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, released
from integration.workload_bodies import create

from .outage import nobody_there, nothing_installed, on_t1000, our_own_pod
from .running import QUICK

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

OUR_WEBHOOK = 'failed calling webhook "pods.cardquota.volcano.sh"'


@dataclass(frozen=True)
class GatedPlane:
    """A plane with two replicas, and who sets the gate there."""

    cluster: Cluster
    by_policy: bool


@pytest.fixture(
    scope="module",
    params=[
        "webhook",
        pytest.param("policy", marks=pytest.mark.newer_kubernetes(GATE_BY_POLICY)),
    ],
)
def gated_by(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatedPlane]:
    folder = tmp_path_factory.mktemp("outage")
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump({**QUICK, "webhook": {"gate": request.param}}))
    with running_plane(folder / "plane", replicas=2, config=config) as cluster:
        assert cluster.folder is not None
        add_roomy_nodes(cluster)
        yield GatedPlane(cluster, request.param == "policy")
        logged = "\n".join(log.read_text() for log in cluster.folder.path.glob("logs/cardquota-*"))
        assert "Traceback" not in logged
        # The CA is published where there is a configuration to publish it in, and nowhere else.
        asked_for = "mutatingwebhookconfigurations/cardquota: published the CA" in logged
        assert asked_for == (request.param == "webhook")
        # The tests take away what is there, and a replica that looks just then says so.
        missed = "mutatingwebhookconfigurations/cardquota is missing" in logged
        assert not (missed and request.param == "policy")


@pytest.fixture
def team(gated_by: GatedPlane, unique: str) -> Iterator[Team]:
    with fresh_namespace(gated_by.cluster, unique) as namespace:
        yield Team(gated_by.cluster, namespace, unique)


def everybody_else_goes_on(team: Team) -> None:
    """Pods that have nothing to do with us, kube-system, nodes, our own pods."""
    cluster = team.cluster
    assert team.create(a_pod("plain").with_cpu("1")).ok
    system = team.wire(team.a_pod(f"{team.prefix}-system", 1, T1000))
    system["metadata"]["namespace"] = "kube-system"
    created = ask(cluster, "POST", "/api/v1/namespaces/kube-system/pods?dryRun=All", system)
    assert created.ok
    assert released(created.body)
    node = {"metadata": {"name": team.prefix}}
    assert ask(cluster, "POST", "/api/v1/nodes?dryRun=All", node).ok
    path = f"/api/v1/namespaces/{v.OPERATOR_NAMESPACE}/pods?dryRun=All"
    assert (reply := ask(cluster, "POST", path, our_own_pod())).ok, reply
    team.until_bound("plain")


@pytest.mark.slow
def test_all_replicas_die_and_come_back(gated_by: GatedPlane, team: Team) -> None:
    team.has_queue(team.a_queue({T1000: 3}).with_policy("Gate"))
    strict = team.has_queue(team.a_queue({T1000: 1}, "strict").with_policy("Deny"), "strict")
    team.until_row(T1000, quota=3)
    with team.watching() as watch:
        for name in ("before-0", "before-1"):
            assert team.create(team.a_pod(name, 1, T1000)).ok
        team.until_bound("before-0", "before-1")
        with nobody_there(gated_by.cluster):
            everybody_else_goes_on(team)
            pods = [team.a_pod(f"during-{number}", 1, T1000) for number in range(4)]
            pods += [team.a_pod(f"strict-{number}", 1, T1000, "strict") for number in range(2)]
            replies = [team.create(pod) for pod in pods]
            by_tenant = team.cluster.kubectl(
                "create", "-f", "-", input=json.dumps(team.wire(team.a_pod("by-hand", 1, T1000))),
                tenant=True,
            )  # fmt: skip
            assert create(team, "Deployment", team.a_pod("service", 1, T1000), replicas=2).ok
            stock = team.create(a_pod("stock").asking_for(1))
            if gated_by.by_policy:
                assert [reply.code for reply in replies] == [201] * 6
                assert not any(released(reply.body) for reply in replies)
                assert by_tenant.returncode == 0, by_tenant.stderr
                assert released(stock.body)
                by_hand = team.patch(a_pod("during-0"), {"spec": {"schedulingGates": None}})
                assert "may not be removed by hand" in by_hand.message or not by_hand.ok
            else:
                for reply in (*replies, stock):
                    assert reply.code == 500
                    assert OUR_WEBHOOK in reply.message
                assert "Error from server (InternalError)" in by_tenant.stderr
                assert OUR_WEBHOOK in by_tenant.stderr
            quota = team.annotate(team.a_queue({}), v.QUOTA, json.dumps({T1000: 100}))
            assert 'failed calling webhook "queues.cardquota.volcano.sh"' in quota.message
        if not gated_by.by_policy:
            # Controllers try again by themselves; people do it.
            again = [team.create(pod) for pod in pods[:4]]
            assert [reply.code for reply in again] == [201] * 4
        team.until(lambda: team.row(T1000).get("allocated") == 3, "the quota is used", 60)
        team.until(lambda: len(service_pods(team)) == 2, "pods of the service", 60)
        of_queue = [event for event in watch.caught_up() if not in_strict(event.object, strict)]
        assert most_at_once([event for event in of_queue if managed(event.object)]) == 3
        team.set_quota({T1000: 20})
        team.set_quota({T1000: 20}, "strict")
        team.until(lambda: all(map(bound, team.pods())), "all start", 60)
    assert_totals_are_exact(team, T1000, "q")
    assert_totals_are_exact(team, T1000, "strict")


def service_pods(team: Team) -> list[Object]:
    return [pod for pod in team.pods() if pod["metadata"]["name"].startswith("service-")]


def in_strict(pod: Object, strict: str) -> bool:
    return bool(pod["metadata"].get("annotations", {}).get(v.QUEUE_NAME) == strict)


def managed(pod: Object) -> bool:
    return v.QUEUE_NAME in pod["metadata"].get("annotations", {})


def bound(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName"))


def assert_totals_are_exact(team: Team, card: str, queue: str) -> None:
    """I2: against a recount of what the API server holds; and the metrics say the same."""
    name = team.queue_name(queue)
    mine = [
        p for p in team.pods() if p["metadata"].get("annotations", {}).get(v.QUEUE_NAME) == name
    ]
    charged = [json.loads(p["metadata"]["annotations"][v.ALLOCATED])[card] for p in mine]
    team.until_row(card, queue, allocated=sum(charged), inqueue=0, requested=sum(charged))
    held = {"queue": name, "card": card}
    eventually(
        lambda: metric(team.cluster, "cardquota_queue_card_allocated", **held) == sum(charged),
        "the metric",
    )
    for gauge in ("cardquota_gated_pods", "cardquota_unadmitted_pods"):
        assert metric(team.cluster, gauge, queue=name) == 0


@pytest.mark.slow
def test_the_table_holds_beside_the_operator(gated_by: GatedPlane, team: Team) -> None:
    """Both ways give the same gates (see `gate_table`), and no review undoes them."""
    queue = team.has_queue(PLENTY)
    with namespaces(gated_by.cluster, team.prefix, queue) as found:
        for case in {case.where: case for case in reversed(TABLE)}.values():
            eventually(lambda c=case: born(team.cluster, c, queue, found) == c.gates, case.where)
        wrong = {
            case.what: got
            for case in TABLE
            if (got := born(team.cluster, case, queue, found)) != case.gates
        }
    assert wrong == {}


@pytest.mark.slow
def test_who_got_past_is_counted_and_nothing_new_is_released(
    gated_by: GatedPlane, team: Team
) -> None:
    """I3, Q7: while nothing was installed; what came while the namespace was off stays outside."""
    cluster = gated_by.cluster
    queue = team.has_queue(team.a_queue({T1000: 2}).with_policy("Gate"))
    team.until_row(T1000, quota=2)
    team.set_mode("off")
    assert team.create(on_t1000(team.a_pod("off", 1, T1000))).ok
    team.until_bound("off")
    team.set_mode(None)
    # Nothing is written in `off`. From now on the pod itself says where it stays.
    team.until(lambda: notes(team, "off").get(v.CHARGED_QUEUE) == "", "noted")
    with nobody_there(cluster):
        with nothing_installed(cluster):
            team.until(lambda: released(try_one(team).body), "nothing installed")
            for number in range(3):
                assert released(team.create(on_t1000(team.a_pod(f"past-{number}", 1, T1000))).body)
        team.until(lambda: not released(try_one(team).body), "installed again")
    team.until(lambda: unadmitted(team, queue) == 3, "counted", 60)
    team.until_row(T1000, allocated=3)
    assert over_quota(team) == "True"
    told = team.until(lambda: queue_events(team, queue), "the event on the queue")
    assert "is charged for 3 pods that never passed its gate" in told[0]["message"]
    assert f"together they hold {T1000} 3" in told[0]["message"]

    assert team.create(team.a_pod("new", 1, T1000)).ok
    team.until_told("new", v.Reason.INSUFFICIENT_CARD)
    assert not released(team.pod("new"))

    with nothing_installed(cluster):
        team.until(lambda: released(try_one(team).body), "nothing installed")
        assert released(team.create(on_t1000(team.a_pod("late", 1, T1000))).body)
    team.until(lambda: not released(try_one(team).body), "installed again")
    told = team.until(lambda: (e := queue_events(team, queue))[1:] and e, "the second event")
    assert [event["reason"] for event in told] == [v.UNADMITTED] * 2
    assert "is charged for 4 pods" in told[1]["message"]
    assert unadmitted(team, queue) == 4

    for name in ("past-0", "past-1", "past-2"):
        assert team.delete(a_pod(name)).ok
    team.until_bound("new")
    team.until_row(T1000, allocated=2)
    team.until(lambda: over_quota(team) == "False", "within the quota")
    # Of another replica than the one that wrote the status.
    team.until(lambda: unadmitted(team, queue) == 1, "the first replica knows it, too")
    assert len(queue_events(team, queue)) == 2


def try_one(team: Team) -> ApiReply:
    """A managed pod, by a dry run; refused, it counts as gated."""
    reply = team.create(team.a_pod("try", 1, T1000), dry=True)
    return reply if reply.ok else ApiReply(0, {"spec": {"schedulingGates": [{"name": v.GATE}]}}, ())


def notes(team: Team, name: str) -> dict[str, str]:
    found: dict[str, str] = team.pod(name)["metadata"].get("annotations", {})
    return found


def unadmitted(team: Team, queue: str) -> float:
    return metric(team.cluster, "cardquota_unadmitted_pods", queue=queue)


def over_quota(team: Team) -> str:
    conditions = team.status().get("conditions", ())
    return next((str(c["status"]) for c in conditions if c["type"] == v.Condition.OVER_QUOTA), "")


def queue_events(team: Team, queue: str) -> list[Object]:
    """Of our making, oldest first."""
    path = f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={queue}"
    found = ask(team.cluster, "GET", path).body["items"]
    return sorted(found, key=lambda event: str(event["metadata"]["creationTimestamp"]))
