"""Queues that cannot be read, or are in use, are refused at write (Q4, Q5, Q8)."""

from builders import H200
from cardquota.cluster.api import Client, from_kubeconfig
from cardquota.cluster.watch import QueueLookup
from integration.asking import ask
from integration.team import QUEUES, Team, released


def test_a_queue_in_use_is_not_deleted_with_many_others(team: Team) -> None:
    """Q8: `kubectl delete queues --selector`, and the one request that deletes all of them."""
    mine = team.a_queue({H200: 3}).labelled("owner", team.prefix)
    other = team.a_queue({H200: 3}, "unused").labelled("owner", team.prefix)
    assert team.has_queue(mine)
    assert team.has_queue(other, "unused")
    assert team.create(team.a_pod("a", 1, H200)).ok
    team.until_row(H200, requested=1)

    reply = ask(team.cluster, "DELETE", f"{QUEUES}?labelSelector=owner={team.prefix}")

    assert reply.code == 403
    words = f"is in use by 1 pod and 0 pod groups ({team.namespace}/a); close it"
    assert f"Queue <{mine.name}> {words}" in reply.message
    assert team.get(mine)["metadata"]["name"] == mine.name
    assert team.delete(team.a_pod("a", 1, H200)).ok
    again = f"{QUEUES}?labelSelector=owner={team.prefix}"
    team.until(lambda: ask(team.cluster, "DELETE", again).ok, "all deleted")


def test_a_queue_name_that_a_pod_was_quick_to_use(team: Team) -> None:
    """A pod created right after its queue is not refused for our being late."""
    for number in range(5):
        name = f"quick-{number}"
        assert team.create(team.a_queue({H200: 1}, name)).ok
        reply = team.create(team.a_pod(name, 1, H200, queue=name))
        assert reply.ok, reply.message
        assert not released(reply.body)
    listed = ask(team.cluster, "GET", QUEUES).body["items"]
    assert len([q for q in listed if q["metadata"]["name"].startswith(team.prefix)]) == 5


async def test_it_says_of_each_queue_whether_it_is_there_now(team: Team) -> None:
    """The API server itself is asked about a queue that no watch has told of."""
    queue = team.has_queue({H200: 1})
    client = Client(await from_kubeconfig([team.cluster.kubeconfig]))
    try:
        lookup = QueueLookup(client)
        assert await lookup.exists(queue) is True
        assert await lookup.exists(f"{queue}-not") is False
        assert team.delete(team.a_queue({})).ok
        assert await lookup.exists(queue) is False
    finally:
        await client.close()
