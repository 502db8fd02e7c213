"""Files that were exported from a live cluster: what runs is held, the rest is what fits now."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from builders import H200, a_group, a_pod
from builders.body import Body
from builders.pod import PodBody
from cardquota.cli.simulate.answers import Answer, Answers, PodAnswer, WorkloadAnswer
from cardquota.cli.simulate.simulate import lines
from cardquota.settings import InstallationMode, Settings

Simulate = Callable[..., Answers]
ADMITTED, GATED, DENIED, HELD = Answer.ADMITTED, Answer.GATED, Answer.DENIED, Answer.HELD
RTX4090 = "NVIDIA-GeForce-RTX-4090"


def exported(*things: Body | dict[str, Any]) -> str:
    """As `kubectl get ... -A -o json` prints it."""
    items = []
    for thing in things:
        if isinstance(thing, dict):
            items.append(thing)
        elif isinstance(thing, PodBody):
            items.append({"apiVersion": "v1", "kind": "Pod", **thing.body})
        else:
            version = "scheduling.volcano.sh/v1beta1"
            items.append({"apiVersion": version, "kind": "PodGroup", **thing.body})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def a_card_pod(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("research").naming(card).asking_for(cards)


def running(name: str, cards: int = 1, node: str = "h200-a") -> PodBody:
    pod = a_card_pod(name, cards).stamped("research", {H200: cards})
    return pod.on_node(node).in_phase("Running")


def waiting(name: str, born: str = "2026-03-01T00:00:00Z") -> PodBody:
    return a_card_pod(name).gated().owned_by("Job", name=name).in_phase("Pending").created(born)


def of_chat(pod: PodBody, replica_set: str = "chat-5d4f8c7b9") -> PodBody:
    return pod.owned_by("ReplicaSet", "apps/v1", name=replica_set)


def a_workload(
    kind: str, name: str, pod: PodBody, *, version: str = "apps/v1", **spec: Any
) -> dict[str, Any]:
    meta = {"name": name, "namespace": "team"}
    template = {
        "metadata": {"annotations": pod.body["metadata"]["annotations"]},
        "spec": pod.body.get("spec", {}),
    }
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": meta,
        "spec": {"template": template, **spec},
    }


CHAT = a_workload("Deployment", "chat", a_card_pod("x"), replicas=3)


def shown(answers: Answers, name: str) -> WorkloadAnswer:
    (found,) = (workload for workload in answers.workloads if workload.name == name)
    return found


def only(answers: Answers, name: str) -> PodAnswer:
    (found,) = shown(answers, name).pods
    return found


def given(found: WorkloadAnswer) -> list[Answer]:
    return [pod.answer for pod in found.pods]


def row(answers: Answers, card: str = H200) -> tuple[int, int, int]:
    """Allocated, let through, requested."""
    found = next(one for one in answers.queues[0].cards if one.name == card)
    return found.allocated, found.inqueue, found.requested


def test_what_runs_is_held_and_the_question_is_answered_beside_it(simulate: Simulate) -> None:
    mine = {**CHAT, "metadata": {"name": "mine", "namespace": "team"}}
    answers = simulate(text=exported(running("a", 2), mine))
    held = only(answers, "a")
    assert (held.answer, held.cards, held.node, held.text) == (HELD, {H200: 2}, "h200-a", "")
    assert given(shown(answers, "mine")) == [ADMITTED, DENIED, DENIED]
    assert "total would be <4>, but capability is <3>" in shown(answers, "mine").pods[1].text
    assert row(answers) == (3, 0, 3)


def test_d8_a_stamp_counts_also_if_the_node_has_become_another(simulate: Simulate) -> None:
    answers = simulate(text=exported(running("a", 2, "rtx4090-a")))
    assert only(answers, "a").cards == {H200: 2}
    assert row(answers) == (2, 0, 2)


def test_i3_who_got_past_admission_is_counted_by_the_node(simulate: Simulate) -> None:
    answers = simulate(text=exported(a_card_pod("a").on_node("rtx4090-a").in_phase("Running")))
    found = only(answers, "a")
    assert (found.answer, found.cards) == (HELD, {RTX4090: 1})
    assert found.text == "it got past admission, and is counted all the same"
    outside = a_pod("b").asking_for(1).on_node("h200-a").in_phase("Running")
    found = only(simulate(text=exported(outside)), "b")
    assert (found.answer, found.text) == (HELD, "no queue: counted outside every quota")


def test_audit_lets_by_and_is_counted_by_the_node(simulate: Simulate) -> None:
    settings = Settings(mode=InstallationMode.AUDIT)
    pod = a_card_pod("a").on_node("rtx4090-a").in_phase("Running")
    found = only(simulate(text=exported(pod), settings=settings), "a")
    assert (found.answer, found.cards, found.text) == (HELD, {RTX4090: 1}, "")


def test_t1_what_has_finished_holds_nothing(simulate: Simulate) -> None:
    done = [running("a", 3).in_phase("Succeeded"), running("b", 3).in_phase("Failed")]
    answers = simulate(text=exported(*done, running("c")))
    assert [workload.name for workload in answers.workloads] == ["c"]
    assert row(answers) == (1, 0, 1)


def test_what_is_being_deleted_holds_until_it_is_gone(simulate: Simulate) -> None:
    answers = simulate(text=exported(running("a", 3).terminating(), waiting("b")))
    assert only(answers, "a").text == "it is being deleted, and holds this until it is gone"
    assert only(answers, "b").answer is GATED


def test_who_was_let_through_and_has_no_node_gets_one(simulate: Simulate) -> None:
    through = a_card_pod("a").stamped("research", {H200: 1}).in_phase("Pending")
    found = only(simulate(text=exported(through)), "a")
    assert (found.answer, found.node) == (HELD, "h200-a")
    full = [a_pod(f"o{n}").asking_for(4).on_node("h200-a").in_phase("Running") for n in range(2)]
    found = only(simulate(text=exported(through, *full)), "a")
    assert (found.node, found.pending) == ("", "no node has room: stays Pending")


def test_e6_who_waits_goes_in_the_order_of_release_and_before_who_is_new(
    simulate: Simulate,
) -> None:
    """Though the files name them otherwise."""
    new = a_workload("Job", "new", a_card_pod("x"), version="batch/v1")
    younger, older = waiting("young"), waiting("old", "2026-02-01T00:00:00Z")
    answers = simulate(text=exported(new, younger, older, running("a", 2)))
    assert only(answers, "old").answer is ADMITTED
    for name in ("young", "new"):
        found = only(answers, name)
        assert found.answer is GATED
        assert "total would be <4>, but capability is <3>" in found.text
    assert row(answers) == (3, 0, 5)


def test_who_waits_for_something_else_is_told_what(simulate: Simulate) -> None:
    alone = a_pod("a").in_group("none").naming(H200).asking_for(1).gated().in_phase("Pending")
    found = only(simulate(text=exported(alone)), "a")
    assert found.answer is GATED
    assert found.text.startswith("pod group <team/none> does not exist (yet)")


@pytest.mark.parametrize(("there", "new"), [(0, 3), (1, 2), (3, 0), (4, 0)])
def test_replicas_that_are_there_are_not_counted_twice(
    simulate: Simulate, there: int, new: int
) -> None:
    pods = [of_chat(running(f"chat-5d4f8c7b9-{n}")) for n in range(min(there, 3))]
    pods += [of_chat(running("chat-old", 0)) for _ in range(there - 3)]
    found = shown(simulate(text=exported(CHAT, *pods)), "chat")
    assert given(found).count(ADMITTED) == new
    assert given(found).count(HELD) == min(there, 3) + max(0, there - 3)
    assert found.note == ("" if new else "its pods are there")


def test_replica_sets_of_a_deployment_of_the_files_make_no_pods_of_their_own(
    simulate: Simulate,
) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat", "controller": True}
    made = a_workload("ReplicaSet", "odd-name", a_card_pod("x"), replicas=3)
    made["metadata"]["ownerReferences"] = [owner]
    pod = of_chat(running("p"), "odd-name")
    answers = simulate(text=exported(CHAT, made, pod))
    assert [(w.kind, given(w)) for w in answers.workloads] == [
        ("Deployment", [HELD, ADMITTED, ADMITTED])
    ]
    answers = simulate(text=exported(made, pod))
    assert [(w.kind, given(w)) for w in answers.workloads] == [
        ("ReplicaSet", [HELD, ADMITTED, ADMITTED])
    ]
    answers = simulate(text=exported(pod))
    assert [(w.kind, w.name, given(w)) for w in answers.workloads] == [
        ("ReplicaSet", "odd-name", [HELD])
    ]


def test_a_replica_that_is_being_deleted_is_replaced(simulate: Simulate) -> None:
    one = {**CHAT, "spec": {**CHAT["spec"], "replicas": 1}}
    found = shown(simulate(text=exported(one, of_chat(running("p").terminating()))), "chat")
    assert given(found) == [HELD, ADMITTED]


def test_stateful_and_daemon_sets_lack_what_is_missing_by_name_and_by_node(
    simulate: Simulate,
) -> None:
    stateful = a_workload("StatefulSet", "db", a_card_pod("x"), replicas=3)
    pods = [running(name).owned_by("StatefulSet", "apps/v1", "db") for name in ("db-0", "db-2")]
    found = shown(simulate(text=exported(stateful, *pods)), "db")
    assert [(p.name, p.answer) for p in found.pods] == [
        ("db-0", HELD),
        ("db-2", HELD),
        ("db-1", ADMITTED),
    ]
    agent = a_workload("DaemonSet", "agent", a_pod("x").in_queue("research"))
    there = a_pod("agent-x").in_queue("research").owned_by("DaemonSet", "apps/v1", "agent")
    answers = simulate(
        text=exported(
            agent,
            there.on_node("h200-a").in_phase("Running"),
            there.put("agent-y", "metadata", "name")
            .with_uid("y")
            .in_phase("Pending")
            .made_for("share-a"),
        )
    )
    found = shown(answers, "agent")
    assert len(found.pods) == 4
    assert sorted(pod.node for pod in found.pods if pod.answer is not HELD) == [
        "rtx4090-a",
        "rtx4090d-a",
    ]


@pytest.mark.parametrize(
    ("spec", "status", "new"),
    [
        ({"parallelism": 3, "completions": 9}, {"succeeded": 4}, 2),
        ({"parallelism": 3, "completions": 5}, {"succeeded": 4}, 0),
        ({"parallelism": 3}, {}, 2),
        ({"parallelism": 3}, {"succeeded": 1}, 0),
        ({"parallelism": 3}, {"conditions": [{"type": "Complete", "status": "True"}]}, 0),
        ({"parallelism": 3}, {"conditions": [{"type": "Suspended", "status": "True"}]}, 2),
    ],
)
def test_a_job_lacks_what_it_has_still_to_do(
    simulate: Simulate, spec: dict[str, int], status: dict[str, Any], new: int
) -> None:
    job = a_workload("Job", "train", a_card_pod("x"), version="batch/v1", **spec)
    job["status"] = status
    one = running("train-a").owned_by("Job", name="train")
    found = shown(simulate(text=exported(job, one)), "train")
    assert given(found) == [HELD] + [ADMITTED] * new


def a_volcano_job(uid: str | None, phase: str = "Running") -> dict[str, Any]:
    task = {
        "name": "w",
        "replicas": 2,
        "template": {
            "metadata": {"annotations": {"volcano.sh/card.name": H200}},
            "spec": a_card_pod("x").body["spec"],
        },
    }
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "mpi", "namespace": "team", "uid": uid},
        "spec": {"queue": "research", "minAvailable": 2, "tasks": [task]},
        "status": {"state": {"phase": phase}},
    }


def test_a_job_of_volcano_has_one_pod_group(simulate: Simulate) -> None:
    """The one that is there; its pods are those of its tasks by name."""
    group = a_group("mpi-u-1").in_queue("research").of(2).in_phase("Running")
    pods = [
        running(f"mpi-w-{n}").in_group("mpi-u-1").owned_by("Job", "batch.volcano.sh/v1", "mpi")
        for n in range(2)
    ]
    answers = simulate(text=exported(a_volcano_job("u-1"), group, *pods))
    assert given(shown(answers, "mpi")) == [HELD, HELD]
    assert row(answers) == (2, 0, 2)
    answers = simulate(text=exported(a_volcano_job("u-1"), group, pods[0]))
    assert given(shown(answers, "mpi")) == [HELD, ADMITTED]
    answers = simulate(text=exported(a_volcano_job("u-1", "Completed"), group))
    assert (shown(answers, "mpi").pods, shown(answers, "mpi").note) == (
        [],
        "has ended: it has no more pods",
    )


def test_a_group_that_is_there_is_not_judged_again_and_keeps_what_it_reserves(
    simulate: Simulate,
) -> None:
    """Its queue may have been closed since, or its quota lowered (E5, T2)."""
    large = a_group("g").in_queue("research").of(2).requesting({H200: 9}).in_phase("Pending")
    reserves = a_group("r").in_queue("research").of(2).asking({H200: 2})
    reserves = reserves.enqueued("research", {H200: 2}).in_phase("Inqueue")
    answers = simulate(text=exported(large, reserves))
    assert answers.refused == []
    assert row(answers) == (0, 2, 0)


def test_pods_that_concern_no_quota_take_room_on_nodes_alone(simulate: Simulate) -> None:
    plain = [a_pod(f"p{n}").with_cpu("48").on_node("h200-a").in_phase("Running") for n in range(2)]
    new = a_workload("Job", "new", a_card_pod("x").with_cpu("1"), version="batch/v1")
    answers = simulate(text=exported(*plain, new))
    assert [workload.name for workload in answers.workloads] == ["new"]
    assert only(answers, "new").pending == "no node has room: stays Pending"
    assert (
        "2 pods of the cluster use no card and name no queue: only the room on nodes counts"
        in answers.notes
    )


def test_e9_a_pod_of_a_file_that_names_its_node_is_refused_as_ever(simulate: Simulate) -> None:
    fresh = a_card_pod("a").on_node("h200-a", at=None).put(None, "metadata", "uid")
    found = only(simulate(text=exported(fresh)), "a")
    assert found.answer is DENIED
    assert "names its node" in found.text


def test_odd_exports_are_taken_as_they_come(simulate: Simulate) -> None:
    """Times that are none or far away, nodes that are not in the files, two pods of one uid."""
    answers = simulate(
        text=exported(
            running("a").created("9999-12-31T23:59:59Z").with_uid("same"),
            running("b", node="gone").created("yesterday").with_uid("same"),
            a_workload("Job", "new", a_card_pod("x"), version="batch/v1"),
        )
    )
    assert [given(w) for w in answers.workloads] == [[HELD], [HELD], [ADMITTED]]
    assert row(answers) == (3, 0, 3)


def test_what_is_held_is_printed_in_one_line_of_its_workload(simulate: Simulate) -> None:
    answers = simulate(text=exported(CHAT, of_chat(running("a")), of_chat(running("b"))))
    printed = [line.plain for line in lines(answers)]
    first = printed.index("Deployment team/chat: 2 held, 1 admitted")
    assert printed[first + 1] == "  held       a, b: NVIDIA-H200 1 each; on node h200-a"
    answers = simulate(text=exported(CHAT, *(of_chat(running(f"p{n}")) for n in range(3))))
    assert "Deployment team/chat: 3 held" in [line.plain for line in lines(answers)]


def test_e6_who_has_waited_too_long_is_not_passed(simulate: Simulate) -> None:
    """By the time at which it is asked: then what is free is set aside."""
    asks = waiting("b", "2026-03-01T00:00:00Z")
    asks = asks.put(None, "metadata", "ownerReferences").asking_for(3)
    asks = asks.owned_by("Job", name="b")
    gate = "volcano.sh/card.policy: Gate\n    volcano.sh/card.quota"
    text = exported(running("a"), asks, a_card_pod("new").with_uid("").owned_by("Job", name="n"))

    def edited(text: str) -> str:
        return text.replace("volcano.sh/card.quota", gate)

    assert only(simulate(text=text, edit=edited), "new").answer is ADMITTED
    later = datetime(2026, 3, 1, 1, tzinfo=UTC).timestamp()
    found = only(simulate(text=text, edit=edited, now=later), "new")
    assert found.answer is GATED
    assert "keeps what is free" in found.text
    sooner = datetime(2026, 3, 1, 0, 5, tzinfo=UTC).timestamp()
    assert only(simulate(text=text, edit=edited, now=sooner), "new").answer is ADMITTED


@pytest.mark.parametrize(("scheduler", "reserved"), [("standalone", 2), ("volcano", 0)])
def test_e1_beside_volcano_that_one_enqueues_groups(
    simulate: Simulate, scheduler: str, reserved: int
) -> None:
    settings = Settings.model_construct(scheduler=scheduler)
    group = a_group("gang").with_uid("").in_queue("research").of(2).requesting({H200: 2})
    answers = simulate(text=exported(group.in_phase("Pending")), settings=settings)
    assert row(answers)[:2] == (0, reserved)
