"""A mutating webhook of somebody else that runs after ours: the final object is what counts."""

from pathlib import Path

import pytest

from builders import GPU
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object, Reply
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, gates, notes

from .other_webhook import other_webhook

MARK = {"op": "add", "path": "/metadata/labels", "value": {"touched": "yes"}}


def annotation(key: str, value: str) -> Object:
    return {"op": "add", "path": f"/metadata/annotations/{key.replace('/', '~1')}", "value": value}


def limit(amount: int) -> Object:
    value = {"limits": {GPU: amount}, "requests": {GPU: amount}}
    return {"op": "add", "path": "/spec/containers/0/resources", "value": value}


NO_GATE = {"op": "remove", "path": "/spec/schedulingGates"}


def through(team: Team, folder: Path, pod: PodBody, *steps: Object, again: bool = True) -> Reply:
    """Create a pod that is changed so on its way."""
    with other_webhook(team, folder, [MARK, *steps], again=again):
        return team.create(pod)


@pytest.mark.parametrize("again", [True, False])
def test_more_cards_than_there_are_are_refused(team: Team, tmp_path: Path, again: bool) -> None:
    """Whatever was asked for first."""
    team.has_queue({T1000: 3})
    reply = through(team, tmp_path, team.a_pod("a", 1, T1000), limit(5), again=again)
    assert reply.reason == v.Reason.INSUFFICIENT_CARD
    assert "requested <5>, total would be <5>, but capability is <3>" in reply.message


def test_what_was_asked_for_in_the_end_is_charged(team: Team, tmp_path: Path) -> None:
    team.has_queue({T1000: 3})
    assert through(team, tmp_path, team.a_pod("a", 1, T1000), limit(3)).ok
    team.until_bound("a")
    team.until_row(T1000, allocated=3)
    assert notes(team.pod("a"))[v.ALLOCATED] == f'{{"{T1000}": 3}}'


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (v.CARD_NAME, T2000, v.Reason.CARD_NOT_IN_QUOTA),
        (v.CARD_NAME, "NVIDIA-Unheard-Of", v.Reason.INVALID_CARD),
        (v.QUEUE_NAME, "theirs", v.Reason.QUEUE_NOT_OPEN),
        (v.QUEUE_NAME, "nowhere", v.Reason.QUEUE_NOT_FOUND),
    ],
)
def test_another_card_or_queue_is_judged(
    team: Team, tmp_path: Path, key: str, value: str, reason: v.Reason
) -> None:
    team.has_queue({T1000: 3})
    team.has_queue(team.a_queue({T1000: 3}, "theirs").open_to("somebody"), name="theirs")
    text = team.queue_name(value) if key == v.QUEUE_NAME else value
    reply = through(team, tmp_path, team.a_pod("a", 1, T1000), annotation(key, text))
    assert reply.reason == reason


@pytest.mark.parametrize("key", [v.ALLOCATED, v.CHARGED_QUEUE, v.TERM])
def test_a_charge_is_not_forged_on_the_way(team: Team, tmp_path: Path, key: str) -> None:
    team.has_queue({T1000: 3})
    reply = through(team, tmp_path, team.a_pod("a", 1, T1000), annotation(key, "{}"))
    assert reply.code == 403
    assert "may not be created with the annotations" in reply.message


def test_a_gate_that_is_taken_away_is_put_back(team: Team, tmp_path: Path) -> None:
    """Ours is asked again after the other has changed the pod."""
    team.has_queue(team.a_queue({T1000: 0}).with_policy("Gate"))
    reply = through(team, tmp_path, team.a_pod("a").with_cpu("1"), NO_GATE, again=False)
    assert reply.ok, reply
    assert gates(reply.body) == [v.GATE]


def test_a_gate_that_is_taken_away_again_is_missed(team: Team, tmp_path: Path) -> None:
    """By the validating review, or by the policy that holds while we are down."""
    team.has_queue({T1000: 3})
    reply = through(team, tmp_path, team.a_pod("a", 1, T1000), NO_GATE)
    assert reply.code == 403, reply
    assert f"scheduling gate {v.GATE}" in reply.message
