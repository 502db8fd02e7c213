"""Queues that cannot be read, or are in use, are refused at write (Q4, Q5, Q8)."""

import json

import pytest

from builders import H200, a_queue
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from cardquota.quota.cards import MOST_ROWS
from integration.asking import ask
from integration.roomy_nodes import T1000
from integration.team import QUEUES, Team, let_through

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


@pytest.mark.parametrize("text", BAD_QUOTAS.values(), ids=BAD_QUOTAS)
def test_a_quota_that_cannot_be_read_is_refused(team: Team, text: str) -> None:
    """Q4: with a sentence, at create as at update, and the old quota stays in force."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)

    born, changed = (
        team.create(a_queue(f"{queue.name}-new").with_quota_text(text)),
        team.annotate(queue, v.QUOTA, text),
    )

    for reply in (born, changed):
        assert reply.code == 403, reply
        assert f"annotation {v.QUOTA} cannot be read: " in reply.message
        assert reply.message.isprintable()
        assert len(reply.message) < 600
    assert team.queue()["metadata"]["annotations"][v.QUOTA] == '{"NVIDIA-H200": 3}'
    assert team.create(team.a_pod("a", 3, H200)).ok
    assert not team.create(team.a_pod("b", 4, H200)).ok


def test_kubectl_apply_says_what_is_wrong(team: Team) -> None:
    """Q4, I4: which queue, what, where, and what to write instead."""
    body = team.wire(a_queue(team.queue_name()).with_quota_text('{"NVIDIA-H200": 1.5}'))
    done = team.cluster.kubectl("apply", "-f", "-", input=json.dumps(body))
    assert done.returncode == 1
    assert (
        f"denied the request: Queue <{team.queue_name()}>: annotation {v.QUOTA} cannot be read: "
        "the amount of <NVIDIA-H200> is 1.5, not a whole number. "
        'Write a JSON object of whole numbers, such as {"NVIDIA-H200": 3}'
    ) in done.stderr
    assert "Traceback" not in done.stderr


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


def test_queues_are_flat(team: Team) -> None:
    """Q5: the refusal gives the reason; the root, as Volcano writes it, is fine."""
    reply = team.create(team.a_queue({H200: 3}).put("team-a", "spec", "parent"))
    assert not reply.ok
    assert "spec.parent" in reply.message
    assert "flat" in reply.message
    assert "Leave spec.parent out" in reply.message
    assert team.create(team.a_queue({H200: 3}).put("root", "spec", "parent")).ok


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        (v.POLICY, "Maybe", "is <Maybe>; write Deny or Gate"),
        (v.POLICY, "gate", "is <gate>; write Deny or Gate"),
        (v.QUEUE_STATE, "Shut", "is <Shut>; write Open or Closed"),
        (v.NAMESPACES, "team-a", "Write a JSON list of namespace names or patterns"),
        (v.NAMESPACES, '["team-a", 3]', "Write a JSON list of namespace names or patterns"),
    ],
)
def test_other_annotations_that_cannot_be_read(team: Team, key: str, text: str, words: str) -> None:
    """Q8, Q6, section 2."""
    reply = team.create(team.a_queue({H200: 3}).annotated(key, text))
    assert reply.code == 403
    assert f"annotation {key} " in reply.message
    assert words in reply.message


def test_a_queue_in_use_is_not_deleted(team: Team) -> None:
    """Q8: the refusal counts who uses it; unused, it goes."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    pods = [team.a_pod(name, 1, H200) for name in ("a", "b")]
    assert all(team.create(pod).ok for pod in pods)
    assert team.create(team.a_gang("gang", 2)).ok
    team.until_row(H200, requested=2)

    reply = team.delete(queue)

    assert reply.code == 403
    users = ", ".join(f"{team.namespace}/{name}" for name in ("a", "b", "gang"))
    words = f"is in use by 2 pods and 1 pod group ({users}); close it"
    assert f"Queue <{queue.name}> {words}" in reply.message
    for thing in (*pods, team.a_gang("gang", 2)):
        assert team.delete(thing).ok
    team.until(lambda: team.delete(queue).ok, "deleted")


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


def test_quota_may_exceed_the_cluster(team: Team) -> None:
    """Q3: reported, never refused."""
    team.has_queue({H200: 100_000})

    def oversold() -> str | None:
        return next(
            (
                c["message"]
                for c in team.status().get("conditions", ())
                if c["type"] == "Oversold" and c["status"] == "True"
            ),
            None,
        )

    text = team.until(oversold, "Oversold")
    assert text.startswith(f"quotas for <{H200}> add up to ")


def test_a_queue_name_that_a_pod_was_quick_to_use(team: Team) -> None:
    """A pod created right after its queue is not refused for our being late."""
    for number in range(5):
        name = f"quick-{number}"
        assert team.create(team.a_queue({H200: 1}, name)).ok
        reply = team.create(team.a_pod(name, 1, H200, queue=name))
        assert reply.ok, reply.message
        assert not let_through(reply.body)
    listed = ask(team.cluster, "GET", QUEUES).body["items"]
    assert len([q for q in listed if q["metadata"]["name"].startswith(team.prefix)]) == 5


@pytest.mark.parametrize(
    "text",
    ["", "-1", "1.5", "null", "[1]", '{"NVIDIA-H200": -1}', '{"NVIDIA-H200": 1' + "0" * 9_000],
)
def test_r6_what_may_be_borrowed_is_refused_where_it_cannot_be_read(team: Team, text: str) -> None:
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
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
