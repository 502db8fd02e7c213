"""R7: workloads that lack pods since we refused some, and for want of what."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue, see
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.create_judgement import judge_create
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.messages import stuck_messages
from cardquota.quota.stuck import denied
from cardquota.quota.stuck.denied import DeniedWorkloads, describe_denied
from cardquota.quota.stuck.stuck_finding import StuckFinding

from ..rollouts import full
from .stuck_things import NOON, holding, lacking


def a_cluster(quota: int = 0, queue: str = "queue") -> Ledger:
    return a_ledger(*CARDS, a_namespace("team"), a_queue(queue).with_quota({H200: quota}))


def found(
    ledger: Ledger, *, judges: bool = True, require_queue: bool = False
) -> Mapping[str, StuckFinding]:
    look = DeniedWorkloads(ledger, require_queue=require_queue, judges=judges)
    return {
        one.facts.name: describe_denied(
            one, None if one.since is None else max(0, NOON - one.since), judged=judges
        )
        for one in look.found()
        if one is not None
    }


def test_r7_a_replica_set_that_says_so() -> None:
    ledger = a_cluster()
    lacking(ledger, wants=3)
    one = found(ledger)["chat-1"]
    assert (one.kind, one.queue, dict(one.cards)) == ("ReplicaSet", "queue", {H200: 2})
    assert (one.since, one.age) == (NOON - 3_600, 3_600)
    assert one.reason == v.Reason.INSUFFICIENT_CARD
    assert one.message.startswith(
        "has lacked <2> of 3 pods of Deployment <chat> for <60 min>, since they were refused: "
        "Queue <queue> has insufficient <NVIDIA-H200> quota"
    )


def test_r7_of_all_others_it_is_judged() -> None:
    ledger = a_cluster(quota=1)
    see(ledger, holding(cards=1))
    for kind in ("StatefulSet", "DaemonSet", "ReplicaSet"):
        lacking(ledger, kind, kind.lower(), said="somebody else", since=None, owner="")
    lacking(ledger, "Job", "job")
    told = found(ledger)
    assert set(told) == {"statefulset", "daemonset", "replicaset"}  # a Job's pods wait
    assert {(one.since, one.age) for one in told.values()} == {(None, None)}
    assert "lacked <1> of 2 pods, since" in told["statefulset"].what
    see(ledger, a_queue().with_quota({H200: 5}))
    assert found(ledger) == {}


def test_r7_whose_next_pod_would_be_admitted() -> None:
    ledger = a_cluster(quota=5)
    lacking(ledger)
    one = found(ledger)["chat-1"]
    assert one.reason == ""
    assert one.why.startswith("Queue <queue> has room for its next pod now")
    assert one.advice == stuck_messages.ADVICE_DENIED_OTHERS
    see(ledger, a_queue().with_quota({H200: 0}))
    assert found(ledger)["chat-1"].advice == stuck_messages.ADVICE_DENIED


def refused_update(surge: str | None) -> Ledger:
    """Two ReplicaSets of equal pods lack some: of an update, and of a Deployment that grows."""
    ledger = full(surge)
    for name in ("web-new", "web-old"):
        facts = ledger.workloads.named("ReplicaSet", "team", name)
        assert facts is not None
        replicas = facts.replicas + (name == "web-old")
        ledger.workloads.see(replace(facts, replicas=replicas, present=0, refused=True))
    return ledger


def test_r7_what_an_update_may_borrow_is_room_for_its_pods_alone() -> None:
    assert set(found(refused_update(None))) == {"web-new", "web-old"}
    assert set(found(refused_update("1"))) == {"web-old"}


def test_r7_equal_pods_are_answered_apart_in_each_namespace() -> None:
    """Its template is the same, and the queue lets in one of the two."""
    ledger = a_cluster(quota=5)
    see(ledger, a_namespace("other"), a_queue().with_quota({H200: 5}).open_to("team"))
    lacking(ledger, name="in")
    lacking(ledger, name="out", namespace="other")
    told = found(ledger)
    assert (told["in"].reason, told["out"].reason) == ("", v.Reason.QUEUE_NOT_OPEN)


def test_r7_where_no_queue_is_named_or_none_is_there() -> None:
    ledger = a_cluster()
    pod = a_pod().naming(H200).asking_for(1)
    lacking(ledger, name="none", pod=pod)
    lacking(ledger, name="missing", pod=pod.in_queue("gone"))
    told = found(ledger, require_queue=True)
    assert {name: (one.queue, one.reason) for name, one in told.items()} == {
        "none": (None, v.Reason.QUEUE_NOT_FOUND),
        "missing": ("gone", v.Reason.QUEUE_NOT_FOUND),
    }


def test_r7_a_template_that_is_not_known() -> None:
    ledger = a_cluster()
    lacking(ledger)
    (facts,) = ledger.workloads.refused.values()
    facts.template = b""
    one = found(ledger)["chat-1"]
    assert (one.queue, dict(one.cards), one.reason) == (None, {}, "")
    assert "too large to be kept" in one.why
    facts.certain = False
    assert found(ledger) == {}


def test_r7_where_not_all_could_be_read() -> None:
    ledger = a_cluster()
    lacking(ledger)
    lacking(ledger, "StatefulSet", "web")
    told = found(ledger, judges=False)
    assert set(told) == {"chat-1", "web"}
    assert {(one.reason, one.queue) for one in told.values()} == {("", None)}
    assert "not everything that it depends on could be listed" in told["web"].message


def test_r7_absurd_times() -> None:
    ledger = a_cluster()
    for name, since in (("odd", "?" * 300), ("later", "9999-12-31T23:59:59Z"), ("none", None)):
        lacking(ledger, name=name, since=since)
    told = found(ledger)
    assert told["odd"].since is told["none"].since is None
    assert "<0 s>" in told["later"].what


def test_r7_equal_templates_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, judged = a_cluster(), list[str]()
    for number in range(50):
        lacking(ledger, name=f"chat-{number}")
    real = judge_create

    def counting(*arguments: object, **options: object) -> object:
        judged.append("")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(denied, "judge_create", counting)
    assert len(found(ledger)) == 50
    assert len(judged) == 1
    monkeypatch.setattr(denied, "MOST_KEPT", 3)
    for number in range(8):
        lacking(ledger, name=f"chat-{number}", pod=a_pod().in_queue("queue").asking_for(number + 1))
    assert len(found(ledger)) == 50
