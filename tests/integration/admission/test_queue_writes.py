"""Queues that cannot be read, or are in use, are refused at write (Q4, Q5, Q8)."""

import json

from builders import H200, a_queue
from builders.queue import QueueBody
from cardquota.cluster.api import Client, from_kubeconfig
from cardquota.cluster.watch import QueueLookup
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import MOST_ROWS
from integration.asking import ask
from integration.roomy_nodes import T1000
from integration.team import QUEUES, Team, released

BAD_QUOTAS = {
    "not JSON": "{NVIDIA-H200: 3}",
    "a list": '["NVIDIA-H200"]',
    "a fraction": '{"NVIDIA-H200": 1.5}',
    "NaN": '{"NVIDIA-H200": NaN}',
    "control characters": '{"a\\u0007": 3}',
    "uncountable": '{"NVIDIA-H200": 1' + "0" * 30 + "}",
    "too deep": "[" * 20_000,
    "too many rows": json.dumps({f"card-{n}": 1 for n in range(MOST_ROWS + 1)}),
    "too long": '{"a": 1' + " " * 65_536 + "}",
}


def test_kubectl_apply_warns_of_what_is_odd_and_takes_the_queue(team: Team) -> None:
    """P4, Q3, Q7, section 2: a Warning each, for what this write changes alone."""

    def apply(queue: QueueBody) -> list[str]:
        done = team.cluster.kubectl("apply", "-f", "-", input=json.dumps(team.wire(queue)))
        assert done.returncode == 0, done.stderr
        return sorted(done.stderr.splitlines())

    typed = "NVIDIA-T10O0"
    odd = team.a_queue({T1000: 3_000, typed: 1}).annotated("volcano.sh/card.polcy", "Deny")
    key, unknown, above = apply(odd)
    assert key == (
        f"Warning: annotation <volcano.sh/card.polcy> has no effect; did you mean {v.POLICY}?"
    )
    assert unknown == f"Warning: no node has card <{typed}>; did you mean <{T1000}>?"
    assert above == (f"Warning: quota <3000> of <{T1000}> is more than the cluster has: <2000>")

    assert team.create(team.a_pod("a", 2, T1000)).ok
    team.until_row(T1000, allocated=2)
    (in_use,) = apply(odd.with_quota({T1000: 1, typed: 1}))
    assert in_use == (
        f"Warning: <{T1000}>: 2 are in use (2 allocated, 0 inqueue); nothing is evicted, nothing "
        "new starts until use is below 1"
    )


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


def test_status_and_finalizers_are_nothing_to_ask_about(team: Team) -> None:
    """Our own writes of status never come back to us as reviews."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    finalizers = {"metadata": {"finalizers": ["example.com/kept"]}}
    assert team.patch(queue, finalizers).ok
    assert team.patch(queue, {"metadata": {"finalizers": None}}).ok


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


def test_a_quota_that_cannot_be_read_is_refused(team: Team) -> None:
    """Q4: with a sentence, at create as at update, and the old quota stays in force."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    for what, text in BAD_QUOTAS.items():
        for reply in (
            team.create(a_queue(f"{queue.name}-new").with_quota_text(text)),
            team.annotate(queue, v.QUOTA, text),
        ):
            assert reply.code == 403, what
            assert f"annotation {v.QUOTA} cannot be read: " in reply.message, what
            assert reply.message.isprintable(), what
            assert len(reply.message) < 600, what
    assert team.queue()["metadata"]["annotations"][v.QUOTA] == '{"NVIDIA-H200": 3}'
    assert team.create(team.a_pod("a", 3, H200)).ok
    assert not team.create(team.a_pod("b", 4, H200)).ok


def test_r6_what_may_be_borrowed_is_refused_where_it_cannot_be_read(team: Team) -> None:
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    bad = ("", "-1", "1.5", "null", "[1]", '{"NVIDIA-H200": -1}', '{"NVIDIA-H200": 1' + "0" * 9_000)
    for text in bad:
        for reply in (
            team.create(team.a_queue({H200: 3}, "new").annotated(v.SURGE, text)),
            team.annotate(queue, v.SURGE, text),
        ):
            assert reply.code == 403, reply
            assert f"annotation {v.SURGE} cannot be read: " in reply.message
            assert len(reply.message) < 600
    reply = team.annotate(queue, v.SURGE, '{"NVIDIA-H800": 1}')
    assert reply.ok
    assert any("but the queue has no quota of it" in text for text in reply.warnings), reply


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
