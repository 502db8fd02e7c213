"""What people see of a queue: rows, columns and conditions (sections 6 and 2 of the names)."""

import pytest

from builders import a_ledger, a_queue
from cardquota.cluster.api import Client, from_kubeconfig
from cardquota.control.queues import QueueReconciler
from cardquota.quota import vocabulary as v
from cardquota.quota.reports import report
from integration.asking import Object
from integration.cluster.conftest import until
from integration.roomy_nodes import T1000, T2000
from integration.team import Team


def condition(team: Team, kind: str) -> Object:
    found = team.status().get("conditions", ())
    return next((dict(c) for c in found if c["type"] == kind), {})


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


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_frees_its_card(team: Team, phase: str) -> None:
    """T1, and the next one goes at once."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    first, second = team.a_pod("a", 1, T1000), team.a_pod("b", 1, T1000)
    assert team.create(first).ok
    team.until_bound("a")
    assert team.create(second).ok
    team.finish(first, phase)
    team.until_open("b")
    team.until_row(T1000, allocated=1, requested=1)


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
