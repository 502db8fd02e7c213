"""What a tenant is told beyond the rows of the conformance table: states that others write, amounts
and text that nobody meant (I4).
"""

from builders import H200, H800
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ApiReply
from integration.team import Team


def test_a_queue_closed_by_volcanos_tools(team: Team) -> None:
    """Q6: a state that we did not write, in the status, and it is not taken back."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    team.until_row(H200, quota=3)
    pod = team.a_pod("a", 1, H200)
    for state in ("Closing", "Closed"):
        assert team.patch(queue, {"status": {"state": state}}, sub="/status").ok
        said = f"Queue <{queue.name}> is {state} and takes nothing new"
        reply = team.until(lambda s=said: _refused(team, pod, s), f"{state} is seen")
        assert reply.reason == v.Reason.QUEUE_NOT_OPEN
        assert team.status()["state"] == state


def _refused(team: Team, pod: PodBody, words: str) -> ApiReply | None:
    reply = team.create(pod, dry=True)
    return reply if words in reply.message else None


def test_what_nobody_meant_is_refused_and_those_after_it_are_judged_as_before(team: Team) -> None:
    """P2, P4, I4: names that cannot be read, and amounts beyond all counting or that are none, of
    which most never pass the API server. Whatever was written, the refusal is short and printable.
    """
    team.has_queue({H200: 3})
    for named, words in (
        (f"{H200}||{H800}", "has an empty alternative"),
        (f"|{H200}", "has an empty alternative"),
        (" ", "it is empty"),
        ("x" * 1_000, "has more than 256 characters"),
        (f"{H200}\x07\n", "has control characters"),
        ('{"NVIDIA-H200": 3}', "is not known"),
    ):
        reply = team.create(team.a_pod("a", 1, named))
        assert (reply.code, reply.reason) == (403, v.Reason.INVALID_CARD), reply
        assert words in reply.message
        assert len(reply.message) < 1_000
        assert reply.message.isprintable()
    pod = team.a_pod("a").naming(H200)
    for amount in ("-1", "0.5", "1500m", "1e400", "x"):
        assert 400 <= team.create(pod.asking_for(amount)).code < 500
    for amount, reason in (
        ("1e30", v.Reason.INVALID_CARD),
        ("9223372036854775807", v.Reason.INSUFFICIENT_CARD),
        ("1000Ei", v.Reason.INSUFFICIENT_CARD),
    ):
        reply = team.create(pod.asking_for(amount))
        assert (reply.code, reply.reason) == (403, reason)
        assert "m>" not in reply.message
    assert team.create(team.a_pod("b", 3, H200)).ok
