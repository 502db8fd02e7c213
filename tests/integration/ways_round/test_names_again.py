"""A pod deleted and created again under its name is another pod: nothing meant for the old one
opens the new one.
"""

import json

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team, let_through, notes

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
    assert not let_through(team.pod("b"))
    team.until_row(T1000, allocated=1, requested=2)


@pytest.mark.slow
def test_names_that_come_and_go_fast_are_charged_for_what_they_are(team: Team) -> None:
    """Deleted and created again while gates open: by one card, then by two, thirty times over."""
    team.has_queue(team.a_queue({T1000: 2}).with_policy("Gate"))
    amounts: dict[str, int] = {}
    with team.watching() as watch:
        for turn in range(30):
            for name in ("a", "b"):
                cards = 1 + turn % 2
                reply = team.create(team.a_pod(name, cards, T1000))
                assert reply.ok, reply
                amounts[reply.body["metadata"]["uid"]] = cards
            for name in ("a", "b"):
                assert team.delete(team.a_pod(name)).ok
        last = [team.a_pod(name, 1, T1000) for name in ("a", "b")]
        for pod in last:
            reply = team.create(pod)
            amounts[reply.body["metadata"]["uid"]] = 1
        team.until_bound("a", "b")
        team.until_row(T1000, allocated=2, inqueue=0, requested=2)
        seen = list(watch.seen)
    opened = {s.object["metadata"]["uid"]: s.object for s in seen if let_through(s.object)}
    assert len(opened) >= 2
    for uid, found in opened.items():
        assert json.loads(notes(found)[v.ALLOCATED]) == {T1000: amounts[uid]}
    held: dict[str, int] = {}
    for one in seen:
        uid = one.object["metadata"]["uid"]
        held[uid] = amounts[uid] if one.type != "DELETED" and let_through(one.object) else 0
        assert sum(held.values()) <= 2
