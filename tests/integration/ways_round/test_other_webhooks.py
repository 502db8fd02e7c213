"""A mutating webhook of somebody else that runs after ours: the final object is what counts."""

from pathlib import Path

import pytest

from builders import GPU, a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from harness.newer_kubernetes import DEVICE_CLAIMS
from integration.asking import ApiReply, Object
from integration.other_webhook import other_webhook
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, gates, notes


def annotation(key: str, value: str) -> Object:
    return {"op": "add", "path": f"/metadata/annotations/{key.replace('/', '~1')}", "value": value}


def limit(amount: int) -> Object:
    value = {"limits": {GPU: amount}, "requests": {GPU: amount}}
    return {"op": "add", "path": "/spec/containers/0/resources", "value": value}


NO_GATE = {"op": "remove", "path": "/spec/schedulingGates"}


def through(
    team: Team, patch: list[Object], pod: PodBody, *steps: Object, dry: bool = False
) -> ApiReply:
    """Create a pod that is changed so on its way."""
    patch[:] = steps
    return team.create(pod, dry=dry)


@pytest.mark.slow
def test_what_was_asked_for_in_the_end_is_what_is_judged_and_charged(
    team: Team, tmp_path: Path
) -> None:
    """Amount, card and queue, whatever was written at first."""
    team.has_queue({T1000: 3})
    team.has_queue(team.a_queue({T1000: 3}, "theirs").open_to("somebody"), name="theirs")
    pod = team.a_pod("a", 1, T1000)
    with other_webhook(team, tmp_path) as patch:
        many = through(team, patch, pod, limit(5))
        assert many.reason == v.Reason.INSUFFICIENT_CARD
        assert "requested <5>, total would be <5>, but capability is <3>" in many.message
        for key, value, reason in (
            (v.CARD_NAME, T2000, v.Reason.CARD_NOT_IN_QUOTA),
            (v.CARD_NAME, "NVIDIA-Unheard-Of", v.Reason.INVALID_CARD),
            (v.QUEUE_NAME, team.queue_name("theirs"), v.Reason.QUEUE_NOT_OPEN),
            (v.QUEUE_NAME, team.queue_name("nowhere"), v.Reason.QUEUE_NOT_FOUND),
        ):
            assert through(team, patch, pod, annotation(key, value)).reason == reason
        assert through(team, patch, pod, limit(3)).ok
    team.until_bound("a")
    team.until_row(T1000, allocated=3)
    assert notes(team.pod("a"))[v.ALLOCATED] == f'{{"{T1000}": 3}}'


@pytest.mark.slow
def test_a_pod_that_had_nothing_to_do_with_cards_gets_no_card_on_the_way(
    team: Team, tmp_path: Path
) -> None:
    """Ours was not asked about it, and would not be now: so the policies say no, whether it names a
    queue then or its namespace has one. Without a queue it is nobody's quota.
    """
    queue = team.has_queue({T1000: 3})
    memory = {"limits": {v.GPU_MEMORY: 1}, "requests": {v.GPU_MEMORY: 1}}
    of_memory = {"op": "add", "path": "/spec/containers/0/resources", "value": memory}
    plain = a_pod("plain").annotated("example.com/note", "x")
    with other_webhook(team, tmp_path) as patch:

        def so(*steps: Object, pod: PodBody = plain) -> ApiReply:
            return through(team, patch, pod, *steps, dry=True)

        for step in (of_memory, limit(1)):
            assert so(step).ok
            assert "was created without" in so(step, annotation(v.QUEUE_NAME, queue)).message
        team.mark(annotations={v.QUEUE_NAME: queue})
        for step in (of_memory, limit(1)):
            team.until(lambda s=step: not so(s).ok, "its queue is seen")
            assert "was created without" in so(step).message
        # One that asked for it from the beginning has been seen.
        assert so(pod=plain.asking_for(1, v.GPU_MEMORY)).ok


@pytest.mark.slow
def test_where_a_queue_is_required_none_gets_a_card_without_one_on_the_way(
    team: Team, tmp_path: Path
) -> None:
    """In a namespace labelled `enforced`: the policy says no, since ours was not asked. Who carries
    our label from the beginning is asked about, and asked again.
    """
    team.has_queue({T1000: 3})
    team.set_mode(v.NAMESPACE_ENFORCED)
    stock = a_pod("stock").asking_for(1)
    team.until(lambda: not team.create(stock, dry=True).ok, "enforced")
    plain = a_pod("plain").annotated("example.com/note", "x")
    memory = {"limits": {v.GPU_MEMORY: 1}, "requests": {v.GPU_MEMORY: 1}}
    with other_webhook(team, tmp_path) as patch:
        assert through(team, patch, plain, dry=True).ok
        for value in (memory, limit(1)["value"]):
            step = {"op": "add", "path": "/spec/containers/0/resources", "value": value}
            assert "needs a card queue" in through(team, patch, plain, step).message
        assert through(team, patch, plain.managed(), limit(1)).reason == v.Reason.QUEUE_NOT_FOUND


@pytest.mark.slow
@pytest.mark.newer_kubernetes(DEVICE_CLAIMS)
def test_where_a_queue_is_required_none_claims_a_device_on_the_way(
    team: Team, tmp_path: Path
) -> None:
    team.set_mode(v.NAMESPACE_ENFORCED)
    team.until(lambda: not team.create(a_pod("stock").asking_for(1), dry=True).ok, "enforced")
    plain = a_pod("plain").annotated("example.com/note", "x")
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    with other_webhook(team, tmp_path) as patch:
        claim = {"op": "add", "path": "/spec/resourceClaims", "value": claims}
        reply = through(team, patch, plain, claim)
        assert (reply.code, "cannot be counted by card" in reply.message) == (403, True)
        assert through(team, patch, plain.managed(), claim).reason == v.Reason.DEVICE_CLAIMED


@pytest.mark.slow
def test_neither_gate_nor_charge_is_forged_on_the_way(team: Team, tmp_path: Path) -> None:
    """The policies hold of what is stored in the end, also while we are down."""
    team.has_queue({T1000: 3})
    pod = team.a_pod("a", 1, T1000)
    with other_webhook(team, tmp_path) as patch:
        for key in v.OURS_ON_PODS:
            forged = through(team, patch, pod, annotation(key, "{}"))
            assert forged.code == 403
            assert "may not be created with the annotations" in forged.message
        reply = through(team, patch, pod, NO_GATE)
        assert reply.code == 403, reply
        assert f"scheduling gate {v.GATE}" in reply.message


@pytest.mark.slow
def test_one_that_is_asked_once_is_overruled(team: Team, tmp_path: Path) -> None:
    """Ours is asked again after it: the gate is put back, the amount is judged."""
    team.has_queue({T1000: 3})
    with other_webhook(team, tmp_path, again=False) as patch:
        reply = through(team, patch, team.a_pod("a", 1, T1000), NO_GATE)
        assert reply.ok, reply
        assert gates(reply.body) == [v.GATE]
        many = through(team, patch, team.a_pod("b", 1, T1000), limit(5))
        assert many.reason == v.Reason.INSUFFICIENT_CARD
