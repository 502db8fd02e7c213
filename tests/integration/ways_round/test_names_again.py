"""A pod deleted and created again under its name is another pod: nothing meant for the old one
opens the new one.
"""

from pathlib import Path

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import Object, ask
from integration.other_webhook import other_webhook
from integration.roomy_nodes import T1000
from integration.team import Team, notes, of_a_job, released

US = f"system:serviceaccount:{v.OPERATOR_NAMESPACE}:{v.SERVICE_ACCOUNT}"


def opening(team: Team, of: Object, precondition: tuple[str, ...]) -> Object:
    """The very patch that the operator would send for a pod, in the term of now."""
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{v.OPERATOR_NAMESPACE}/leases/{v.LEASE}"
    term = ask(team.cluster, "GET", lease).body["spec"]["holderIdentity"]
    stamps = {v.TERM: term, v.CHARGED_QUEUE: team.queue_name(), v.ALLOCATED: f'{{"{T1000}": 1}}'}
    known = {key: of["metadata"][key] for key in precondition}
    return {"metadata": {**known, "annotations": stamps}, "spec": {"schedulingGates": None}}


def test_the_patch_for_the_old_pod_does_not_open_the_new_one(team: Team) -> None:
    """The uid in its body is not the new pod's, nor is the resourceVersion."""
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    assert team.create(team.a_pod("a", 1, T1000)).ok
    team.until_open("a")
    pod = team.a_pod("b", 1, T1000)
    assert team.create(pod).ok
    old = team.pod("b")
    assert team.delete(pod).ok
    assert team.create(pod).ok
    for precondition, code in (
        (("uid", "resourceVersion"), (409, 422)),
        (("resourceVersion",), (409,)),
        (("uid",), (409, 422)),
    ):
        reply = team.patch(pod, opening(team, old, precondition), as_user=US)
        assert reply.code in code, reply
    assert not released(team.pod("b"))
    team.until_row(T1000, allocated=1, requested=2)


@pytest.mark.slow
def test_a_pod_created_again_while_its_gate_opens_is_judged_by_itself(
    team: Team, tmp_path: Path
) -> None:
    """The operator's patch is on its way for a pod; when it lands, there is another of
    that name, in a queue that is full.
    """
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    team.has_queue(team.a_queue({T1000: 1}, "big").with_policy("Gate"), name="big")
    old, new = team.a_pod("a", 1, T1000), of_a_job(team.a_pod("a", 1, T1000, queue="big"))
    assert team.create(team.a_pod("holder", 1, T1000, queue="big")).ok
    team.until_open("holder")
    swapped: list[str] = []

    def swap(request: Object) -> None:
        opens = request["operation"] == "UPDATE" and request["name"] == "a"
        if opens and request["userInfo"]["username"] == US and not swapped:
            swapped.append(request["object"]["metadata"]["uid"])
            assert team.delete(old).ok
            reply = team.create(new)
            assert reply.ok, reply
            swapped.append(reply.body["metadata"]["uid"])

    with other_webhook(team, tmp_path, meanwhile=swap):
        assert team.create(old).ok
        team.until(lambda: len(swapped) == 2, "created again while its gate opened")
        team.until_told("a", v.Reason.INSUFFICIENT_CARD)
    found = team.pod("a")
    assert found["metadata"]["uid"] == swapped[1]
    assert not released(found)
    assert v.ALLOCATED not in notes(found)
    team.until_row(T1000, allocated=0, inqueue=0, requested=0)
    team.until_row(T1000, name="big", allocated=1, inqueue=0, requested=2)
