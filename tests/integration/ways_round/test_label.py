"""The label of gated and charged pods: without it nothing counts as written by the operator, and no
write of a pod's status is looked at. So nobody gives it, nor changes or takes it (that stands in
`test_subresources.py`), and who came past admission gets it.
"""

import json
from itertools import product

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object
from integration.roomy_nodes import T1000
from integration.team import Team, notes, released

from .people import MIGHTY
from .test_subresources import CARRY_ANNOTATIONS, write


def labels(team: Team, name: str) -> Object:
    found: Object = team.pod(name)["metadata"].get("labels", {})
    return found


def test_nobody_gives_it_to_a_pod_without_cards(people: Team) -> None:
    """Neither alone, nor together with what looks like a charge."""
    people.has_queue({T1000: 3})
    pod = people.a_pod("plain", 0, T1000).naming(None).in_queue(None)
    assert people.create(pod).ok
    for sub, annotations in product(CARRY_ANNOTATIONS, ({}, forged(people))):
        meta = {"labels": {v.MANAGED: "true"}, "annotations": annotations}
        reply = write(people, pod, sub, {"metadata": meta})
        assert reply.code == 403, reply
    assert v.MANAGED not in labels(people, "plain")


def forged(team: Team) -> Object:
    return {
        v.ALLOCATED: json.dumps({T1000: 3}),
        v.CHARGED_QUEUE: team.queue_name(),
        v.TERM: "mine",
    }


def test_a_forged_charge_on_a_pod_without_it_counts_for_nothing(people: Team) -> None:
    """Who may write `pods/status` can write it, and nobody reads it. As a write of the pod itself
    it is refused.
    """
    people.has_queue({T1000: 3})
    pod = people.a_pod("plain", 0, T1000).naming(None).in_queue(None)
    assert people.create(pod).ok
    change = {"metadata": {"annotations": forged(people)}}
    assert write(people, pod, "", change).code == 403
    assert write(people, pod, "/status", change).ok
    assert people.create(people.a_pod("three", 3, T1000)).ok
    people.until_open("three")
    people.until_row(T1000, allocated=3)


@pytest.mark.slow
def test_what_came_past_us_gets_it_and_is_guarded_then(people: Team) -> None:
    """I3: a pod of a namespace that was off. What was forged on it before goes."""
    people.has_queue({T1000: 5})
    people.set_mode("off")
    past = people.a_pod("past", 2, T1000)
    past = past.on_nodes_labelled({"nvidia.com/gpu.product": T1000})
    people.until(lambda: released(people.create(past, dry=True).body), "not gated")
    assert people.create(past).ok
    people.until_bound("past")
    assert write(people, past, "/status", {"metadata": {"annotations": forged(people)}}).ok
    assert v.MANAGED not in labels(people, "past")
    people.set_mode(None)
    people.until(lambda: labels(people, "past").get(v.MANAGED) == v.IS_MANAGED, "labelled")
    # Outside every queue, and that is written on it.
    people.until(lambda: notes(people.pod("past")).get(v.CHARGED_QUEUE) == "", "where it counts")
    assert v.ALLOCATED not in notes(people.pod("past"))
    _is_guarded(people, past)


def _is_guarded(team: Team, pod: PodBody) -> None:
    for key, value in ((v.ALLOCATED, "{}"), (v.QUEUE_NAME, "other"), (v.QUEUE_NAME, None)):
        change = {"metadata": {"annotations": {key: value}}}
        assert write(team, pod, "/status", change).code == 403


def test_a_pod_may_be_created_with_it(people: Team) -> None:
    """It makes no pod pass: it is gated as any other, and has no charge on it."""
    people.has_queue(people.a_queue({T1000: 1}).with_policy("Gate"))
    assert people.create(people.a_pod("first", 1, T1000), as_user=MIGHTY).ok
    people.until_open("first")
    pod = people.a_pod("second", 1, T1000).managed()
    reply = people.create(pod, dry=True, as_user=MIGHTY)
    assert reply.ok
    assert not released(reply.body)
    for key, value in forged(people).items():
        reply = people.create(pod.annotated(key, value), dry=True, as_user=MIGHTY)
        assert reply.ok, reply
        assert key not in notes(reply.body)
        assert not released(reply.body)
