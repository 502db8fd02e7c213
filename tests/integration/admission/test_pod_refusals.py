"""What a tenant is told beyond the rows of the conformance table: states that others write, amounts
and text that nobody meant, and dry runs (E5, I4).
"""

import pytest

from builders import H200, H800, a_pod
from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import create


@pytest.mark.parametrize("state", ["Closed", "Closing"])
def test_a_queue_closed_by_volcanos_tools(team: Team, state: str) -> None:
    """Q6: a state that we did not write, in the status, and it is not taken back."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    team.until_row(H200, quota=3)
    assert team.patch(queue, {"status": {"state": state}}, sub="/status").ok
    pod = team.a_pod("a", 1, H200)
    team.until(lambda: not team.create(pod, dry=True).ok, "closed")
    reason, text = team.refused(pod)
    assert reason == v.Reason.QUEUE_NOT_OPEN
    assert text.startswith(f"Queue <{queue.name}> is {state} and takes nothing new")
    assert team.status()["state"] == state


def test_who_holds_the_card_is_named_in_the_refusal_and_in_the_event(team: Team) -> None:
    """Section 9: by the names of pods, and of the Deployment of a ReplicaSet's pods."""
    queue = team.a_queue({T1000: 3})
    team.has_queue(queue)
    assert create(team, "Deployment", team.a_pod("chat", 1, T1000), replicas=2).ok
    assert team.create(team.a_pod("tune", 1, T1000)).ok
    team.until_row(T1000, allocated=3)
    numbers = "requested <1>, total would be <4>, but capability is <3>"

    reason, text = team.refused(team.a_pod("more", 1, T1000))

    assert reason == v.Reason.INSUFFICIENT_CARD
    assert f"{numbers}; wait until some of it is free" in text
    assert "; held by chat 2, tune 1" in text
    assert team.annotate(queue, v.POLICY, "Gate").ok
    assert team.until(lambda: team.create(team.a_pod("waits", 1, T1000)).ok, "gated")
    said = team.until_told("waits", v.Reason.INSUFFICIENT_CARD)
    assert f"{numbers}; wait" in said["message"]
    assert "; held by chat 2, tune 1" in said["message"]


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (f"{H200}||{H800}", "has an empty alternative"),
        (f"|{H200}", "has an empty alternative"),
        (" ", "it is empty"),
        ("x" * 1_000, "has more than 256 characters"),
        (f"{H200}\x07\n", "has control characters"),
        ('{"NVIDIA-H200": 3}', "is not known"),
    ],
)
def test_a_name_that_cannot_be_read(team: Team, named: str, words: str) -> None:
    """P2, P4: and the refusal stays short and printable whatever was written."""
    team.has_queue({H200: 3})
    reply = team.create(team.a_pod("a", 1, named))
    assert (reply.code, reply.reason) == (403, v.Reason.INVALID_CARD)
    assert words in reply.message
    assert len(reply.message) < 1_000
    assert reply.message.isprintable()


@pytest.mark.parametrize("amount", ["-1", "0.5", "1500m", "1e400", "x"])
def test_amounts_that_are_no_number_of_cards(team: Team, amount: str) -> None:
    """P4: most never pass the API server; none becomes a pod."""
    team.has_queue({H200: 3})
    pod = team.a_pod("a").naming(H200).asking_for(amount)
    assert 400 <= team.create(pod).code < 500


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("1e30", v.Reason.INVALID_CARD),
        ("9223372036854775807", v.Reason.INSUFFICIENT_CARD),
        ("1000Ei", v.Reason.INSUFFICIENT_CARD),
    ],
)
def test_an_amount_beyond_all_counting(team: Team, amount: str, reason: str) -> None:
    """I4: refused in whole cards, and those after it are judged as before."""
    team.has_queue({H200: 3})
    reply = team.create(team.a_pod("a").naming(H200).asking_for(amount))
    assert (reply.code, reply.reason) == (403, reason)
    assert "m>" not in reply.message
    assert team.create(team.a_pod("b", 3, H200)).ok


def test_dry_run_answers_and_leaves_nothing(team: Team) -> None:
    """A dry run is judged like any create and counts for nobody."""
    team.has_queue({H200: 3})
    for _ in range(3):
        assert team.create(team.a_pod("a", 3, H200), dry=True).ok
    assert not team.create(team.a_pod("a", 4, H200), dry=True).ok
    assert team.create(a_pod("a").in_queue(team.queue_name()).naming(H200).asking_for(3)).ok
