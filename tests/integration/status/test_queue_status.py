"""What people see of a queue: rows, columns and conditions (sections 6 and 2 of the names)."""

import pytest

from builders import GPU, a_ledger, a_queue
from builders.pod import PodBody
from cardquota.cluster.api import Client, from_kubeconfig
from cardquota.control.queues import QueueReconciler
from cardquota.quota import vocabulary as v
from cardquota.quota.reports import report
from integration.asking import Object, metric
from integration.cluster.conftest import until
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, let_through


def condition(team: Team, kind: str) -> Object:
    found = team.status().get("conditions", ())
    return next((dict(c) for c in found if c["type"] == kind), {})


def finish(team: Team, pod: PodBody, phase: str) -> None:
    """Its containers have ended, as a kubelet would say."""
    assert team.patch(pod, {"status": {"phase": phase}}, sub="/status").ok


def resource(team: Team, name: str) -> Object:
    return next((dict(r) for r in team.status().get("resources", ()) if r["name"] == name), {})


@pytest.mark.slow
def test_a_row_per_card(team: Team) -> None:
    """One row per card with a quota or in use, sorted by name, with the resource behind it."""
    team.has_queue({T2000: 2, T1000: 3})
    assert team.create(team.a_pod("a", 2, T1000)).ok
    team.until_row(T1000, allocated=2)
    rows = team.status()["cards"]
    assert [row["name"] for row in rows] == [T1000, T2000]
    assert rows[0] | {"deserved": 3} == {
        "name": T1000,
        "resource": GPU,
        "quota": 3,
        "allocated": 2,
        "inqueue": 0,
        "elastic": 0,
        "requested": 2,
        "guarantee": 3,
        "deserved": 3,
        "offline": 0,
    }
    assert rows[1]["quota"] == 2


def test_the_columns_of_kubectl(team: Team) -> None:
    """Per model, never a sum over models; the busiest first."""
    queue = team.a_queue({T1000: 3, T2000: 2}).limited_to(cpu="4", memory="4Gi")
    team.has_queue(queue)
    pod = team.a_pod("a", 1, T2000).with_cpu("1").with_memory("1Gi")
    assert team.create(pod).ok
    team.until_row(T2000, allocated=1)
    shown = team.cluster.kubectl("get", "queue", queue.name, "-o", "wide", "--no-headers")
    header = team.cluster.kubectl("get", "queue", queue.name, "-o", "wide").stdout.split("\n")[0]
    for word in ("NAME", "STATE", "CARDS", "INQUEUE", "ELASTIC", "AGE", "REQUESTED", "CPU"):
        assert word in header.split()
    assert f"Open   {T2000} 1/2, {T1000} 0/3" in shown.stdout
    for text in (f"{T2000} 1", "1/4", "1Gi/4Gi"):
        assert text in shown.stdout


def test_the_note_of_kubectl(team: Team) -> None:
    """What keeps a queue from taking what it could; empty for a healthy one."""
    queue = team.a_queue({T1000: 1})
    team.has_queue(queue)
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_row(T1000, allocated=1)
    assert _note(team) == ""
    team.set_quota({T1000: 0})
    team.until(lambda: _note(team) == f"over quota: {T1000} 1/0", "NOTE")


def _note(team: Team) -> str:
    header, row = team.cluster.kubectl("get", "queue", team.queue_name()).stdout.splitlines()
    return row[header.index("NOTE") : header.index("AGE")].strip()


@pytest.mark.slow
def test_lowering_a_quota_evicts_nothing(team: Team) -> None:
    """Q7: OverQuota, nothing new until it fits, and a row that is taken out stays while in use."""
    queue = team.has_queue({T1000: 3})
    for name in ("a", "b", "c"):
        assert team.create(team.a_pod(name, 1, T1000)).ok
    team.until_row(T1000, allocated=3)
    assert condition(team, v.Condition.OVER_QUOTA)["status"] == "False"

    team.set_quota({T1000: 1})

    team.until(lambda: condition(team, v.Condition.OVER_QUOTA)["status"] == "True", "OverQuota")
    assert condition(team, v.Condition.OVER_QUOTA)["message"].startswith(
        f"Queue <{queue}> holds 3 of <{T1000}>, its quota is 1: nothing new that asks for it"
    )
    assert len(team.pods()) == 3
    assert team.create(team.a_pod("d", 1, T1000)).reason == v.Reason.INSUFFICIENT_CARD

    team.set_quota({})

    team.until_row(T1000, quota=0, allocated=3)
    for name in ("a", "b", "c"):
        assert team.delete(team.a_pod(name)).ok
    team.until(lambda: not team.status().get("cards"), "no row is left")
    team.until(lambda: condition(team, v.Condition.OVER_QUOTA)["status"] == "False", "within")


def test_a_condition_keeps_its_time_while_it_does_not_change(team: Team) -> None:
    team.has_queue({T1000: 3})
    team.until_row(T1000, quota=3)
    before = condition(team, v.Condition.QUOTA_VALID)
    assert before["status"] == "True"
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_row(T1000, allocated=1)
    assert condition(team, v.Condition.QUOTA_VALID) == before


def test_a_quota_of_a_thousand_cards_has_a_status(team: Team) -> None:
    """Q4: none of them is on a node, so all are oversold, and each is told of by its row."""
    cards = {f"{team.prefix}-{number:03}": 1 for number in range(999)}
    queue = team.a_queue({T1000: 2, **cards})
    team.has_queue(queue)
    team.until_row(T1000, quota=2)
    assert len(team.status()["cards"]) == 1_000
    # Of T1000 all queues of this plane together may have more than there are.
    message = condition(team, v.Condition.OVERSOLD)["message"]
    assert message.endswith((" and 994 more", " and 995 more")), message
    # Each card is some series of the metrics, which the tests after this one read.
    assert team.delete(queue).ok


def test_a_queue_that_is_being_deleted_takes_nothing_new(team: Team) -> None:
    """Q8: a finalizer keeps it for a while."""
    queue = team.a_queue({T1000: 2}).put(["example.com/keep"], "metadata", "finalizers")
    team.has_queue(queue)
    assert team.delete(queue).ok
    team.until(lambda: team.status().get("state") == "Closing", "it shows as Closing")
    assert team.create(team.a_pod("a", 1, T1000)).reason == v.Reason.QUEUE_NOT_OPEN
    assert team.patch(queue, {"metadata": {"finalizers": None}}).ok


@pytest.mark.slow
def test_nothing_is_written_while_nothing_happens(team: Team) -> None:
    """No write without a change: the queue's resourceVersion stands still."""
    team.has_queue({T1000: 3})
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_bound("a")
    team.until_row(T1000, allocated=1, inqueue=0)
    revision = team.queue()["metadata"]["resourceVersion"]
    assert team.changes(a_queue(team.queue_name()), revision, seconds=3) == []
    assert team.queue()["metadata"]["resourceVersion"] == revision


@pytest.mark.slow
def test_at_most_one_write_a_second(team: Team) -> None:
    """Coalesced: twenty pods in a second are not twenty writes, and the last one is right."""
    team.has_queue({T1000: 20})
    team.until_row(T1000, quota=20)
    before = int(team.queue()["metadata"]["generation"])
    revisions = set()
    for number in range(20):
        assert team.create(team.a_pod(f"p{number}", 1, T1000)).ok
        revisions.add(team.queue()["metadata"]["resourceVersion"])
    team.until_row(T1000, allocated=20, inqueue=0, requested=20)
    assert len(revisions) <= 6
    assert team.queue()["metadata"]["generation"] == before


def test_a_status_edited_by_hand_is_put_right(team: Team) -> None:
    team.has_queue({T1000: 3})
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_row(T1000, allocated=1)
    queue = a_queue(team.queue_name())
    forged = {"status": {"cards": [{"name": T1000, "quota": 99, "allocated": 7}]}}
    assert team.patch(queue, forged, sub="/status").ok
    team.until_row(T1000, quota=3, allocated=1, resource=GPU)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_frees_its_card(team: Team, phase: str) -> None:
    """T1, and the next one goes at once."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    first, second = team.a_pod("a", 1, T1000), team.a_pod("b", 1, T1000)
    assert team.create(first).ok
    team.until_bound("a")
    assert team.create(second).ok
    finish(team, first, phase)
    team.until_open("b")
    team.until_row(T1000, allocated=1, requested=1)


def test_a_terminating_pod_counts_until_it_is_gone(team: Team) -> None:
    """Section 6: its card is still held; a finalizer keeps it here."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    kept = team.a_pod("a", 1, T1000).put(["example.com/kept"], "metadata", "finalizers")
    assert team.create(kept).ok
    team.until_bound("a")
    assert team.create(team.a_pod("b", 1, T1000)).ok
    assert team.delete(kept, now=False).ok
    team.until(lambda: team.pod("a")["metadata"].get("deletionTimestamp"), "terminating")
    assert team.create(team.a_pod("c", 1, T1000)).ok
    team.until_told("c", v.Reason.INSUFFICIENT_CARD)
    team.until_row(T1000, allocated=1, requested=3)
    assert not let_through(team.pod("b"))
    assert team.patch(kept, {"metadata": {"finalizers": None}}).ok
    team.until_open("b")


def test_cpu_and_memory_are_counted(team: Team) -> None:
    """P6, section 6: as quantities; pods without cards count too."""
    team.has_queue(team.a_queue({T1000: 3}).limited_to(cpu="4", memory="8Gi"))
    assert team.create(team.a_pod("a", 1, T1000).with_cpu("1500m").with_memory("1Gi")).ok
    assert team.create(team.a_pod("b").with_cpu("1").with_memory("512Mi")).ok
    team.until(lambda: resource(team, "cpu").get("allocated") == "2500m", "cpu")
    assert resource(team, "cpu") == {
        "name": "cpu",
        "quota": "4",
        "allocated": "2500m",
        "inqueue": "0",
        "requested": "2500m",
        "elastic": "0",
    }
    assert resource(team, "memory")["allocated"] == "1536Mi"
    assert team.status()["allocated"] == {"cpu": "2500m", "memory": "1536Mi", GPU: "1"}
    reply = team.create(team.a_pod("c").with_cpu("2"))
    assert reply.reason == v.Reason.INSUFFICIENT_CPU
    assert "<cpu> quota: requested <2>, total would be <4.5>, but capability is <4>" in (
        reply.message
    )


def test_a_queue_without_a_limit_limits_nothing(team: Team) -> None:
    """Section 2: capability absent; and E4: nothing asked for, nothing checked."""
    team.has_queue({})
    assert team.create(team.a_pod("a").with_cpu("100")).ok
    team.until_open("a")
    assert "quota" not in resource(team, "cpu")


def test_a_closed_queue_says_so(team: Team) -> None:
    """Q6: by the annotation, there and back."""
    queue = team.a_queue({T1000: 3})
    team.has_queue(queue)
    for annotation, state in ((None, "Open"), ("Closed", "Closed"), ("Open", "Open")):
        assert team.annotate(queue, v.QUEUE_STATE, annotation).ok
        team.until(lambda s=state: team.status().get("state") == s, state)


async def test_a_queue_closed_while_a_write_is_on_its_way_stays_closed(team: Team) -> None:
    """Q6: the write was worked out from the open queue, and comes after Volcano's tools."""
    queue = team.a_queue({T1000: 3})
    team.has_queue(queue)
    team.until_row(T1000, quota=3)
    client = Client(await from_kubeconfig([team.cluster.kubeconfig]))
    writer = QueueReconciler(client, lambda: "2026-01-01T00:00:00Z", standalone=True)
    found = report(a_ledger(queue.with_uid(team.queue()["metadata"]["uid"])), queue.name)
    assert found is not None
    before = team.queue()
    assert team.patch(queue, {"status": {"state": "Closed"}}, sub="/status").ok
    try:
        writer.seen({**before, "status": {}})
        writer.want(found.uid, found)
        await until(lambda: writer.writes == 1 and not writer.working, "an answer")
        assert team.status()["state"] == "Closed"
        seen = team.queue()
        version = seen["metadata"]["resourceVersion"]
        writer.seen({**seen, "status": {"state": "Closed"}})
        await until(lambda: writer.writes == 2 and not writer.working, "the next one")
        assert team.queue()["metadata"]["resourceVersion"] != version
        assert team.status()["state"] == "Closed"
    finally:
        writer.close()
        await client.close()


@pytest.mark.slow
def test_the_metrics_say_the_same(team: Team) -> None:
    queue = team.has_queue(
        team.a_queue({T1000: 2}).with_policy("Gate").limited_to(cpu="4").guaranteeing(memory="1Gi")
    )
    for name in ("a", "b", "c"):
        assert team.create(team.a_pod(name, 1, T1000).with_cpu("500m")).ok
    team.until_row(T1000, allocated=2, requested=3, guarantee=2)
    for total, value in {"quota": 2, "allocated": 2, "requested": 3, "guarantee": 2}.items():
        name = f"cardquota_queue_card_{total}"
        assert metric(team.cluster, name, queue=queue, card=T1000) == value, total
    deserved = metric(team.cluster, "cardquota_queue_card_deserved", queue=queue, card=T1000)
    assert deserved == team.row(T1000)["deserved"]
    for total, cpus in {"quota": 4, "allocated": 1, "requested": 1.5, "inqueue": 0}.items():
        name = f"cardquota_queue_resource_{total}"
        assert metric(team.cluster, name, queue=queue, resource="cpu") == cpus, total
    assert resource(team, "memory")["guarantee"] == "1Gi"
    assert metric(team.cluster, "cardquota_gated_pods", queue=queue) == 1
    assert metric(team.cluster, "cardquota_unadmitted_pods", queue=queue) == 0
    assert metric(team.cluster, "cardquota_leader") == 1


@pytest.mark.slow
def test_what_is_deserved_follows_all_quotas(team: Team) -> None:
    """Section 6, W1: a part by weight where the cluster has less than all quotas together."""
    team.has_queue({T2000: 1000})
    team.until(lambda: team.row(T2000).get("deserved", 0) >= 900, "deserved of its own")
    team.has_queue(team.a_queue({T2000: 3000}, "greedy").weighing(9), name="greedy")
    team.until(lambda: team.row(T2000)["deserved"] <= 500, "lowered", 5.0)
    assert condition(team, v.Condition.OVERSOLD)["status"] == "True"
    assert team.delete(a_queue(team.queue_name("greedy"))).ok
    team.until(lambda: team.row(T2000)["deserved"] >= 900, "raised again", 5.0)
