"""F5: how a workload stands, and what would let it in."""

from typing import Any

import pytest

from builders import H200, H800, a_group, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Steps, to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.answers import AskedWorkload, Explanation, WorkloadState, explain
from cardquota.quota.answers.asked_workload import AT_A_TIME
from cardquota.quota.ledger import Ledger, ledger_reader
from cardquota.quota.messages import answer_messages
from cardquota.quota.pods import queue_pods

from .asked_cluster import NOON, a_cluster, holding, of_deployment, see_workload, waiting


def steps_of(
    ledger: Ledger, kind: str, name: str, *, volcano: bool | None = None, **options: Any
) -> Steps[Explanation | None]:
    return explain(ledger, AskedWorkload(kind, "team", name, volcano), NOON, **options)


def explained(ledger: Ledger, kind: str, name: str, **options: Any) -> Explanation:
    found = to_its_end(steps_of(ledger, kind, name, **options))
    assert found is not None
    return found


def nothing(ledger: Ledger, kind: str, name: str, **options: Any) -> bool:
    return to_its_end(steps_of(ledger, kind, name, **options)) is None


# --- pods -------------------------------------------------------------------------------------


def test_f4_nobody_of_another_namespace_is_named() -> None:
    ledger = a_cluster(holding("secret", 4).in_namespace("other"), waiting("w", 1), quota=4)
    found = explained(ledger, "Pod", "w")
    assert (found.holders, found.more_holders) == ((), 0)
    assert "secret" not in str(found)


def released(name: str = "p", cards: int = 1, *gates: str) -> PodBody:
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(cards)
    pod = pod.stamped("queue", {H200: cards})
    return pod.with_spec(schedulingGates=[{"name": gate} for gate in gates]) if gates else pod


def test_f6_in_a_fifo_queue_only_a_card_for_which_nobody_waits_is_named() -> None:
    first = waiting("first", 4, created="2026-01-02T08:00:00Z")
    ledger = a_cluster(holding("h", 2), first, waiting("w", 3))
    see(ledger, a_queue().with_quota({H200: 4, H800: 4}).fifo())
    assert [one.name for one in explained(ledger, "Pod", "w").other_cards] == [H800]
    see(ledger, waiting("other", 5).naming(H800))
    assert explained(ledger, "Pod", "w").other_cards == ()


def test_f5_what_is_not_there_is_not_known() -> None:
    ledger = a_cluster(holding("h"), holding("far").in_namespace("other"))
    assert nothing(ledger, "Pod", "gone")
    assert nothing(ledger, "Pod", "far")
    assert nothing(ledger, "PodGroup", "gone")
    assert nothing(ledger, "Deployment", "gone")
    assert nothing(ledger, "Job", "gone")


# --- groups -----------------------------------------------------------------------------------


def test_f5_a_gang_that_starts_whole() -> None:
    ledger = a_cluster(
        a_group("gang").in_queue("queue").of(2),
        *(waiting(f"m{n}", 2).in_group("gang") for n in range(2)),
        quota=3,
    )
    see(ledger, a_queue("large").with_quota({H200: 6}), a_queue("small").with_quota({H200: 3}))
    for kind, name in (("PodGroup", "gang"), ("Pod", "m1"), ("Job", "train")):
        found = explained(ledger, kind, name)
        assert (found.state, found.reason) == (WorkloadState.WAITS, v.Reason.INSUFFICIENT_CARD)
        assert "requested <4>" in found.message
        assert [(one.name, one.amount) for one in found.asks] == [(H200, 4)]
        assert (found.place, found.place_of) == (1, 1)
        assert [one.queue for one in found.other_queues] == ["large"]


def test_f6_a_queue_is_named_only_for_what_it_may_hold_now() -> None:
    """L2."""
    ledger = a_cluster(waiting("a", 2), quota=1)
    see(ledger, a_queue("large").with_quota({H200: 6}).deserving_cards({H200: 0}))
    assert [one.queue for one in explained(ledger, "Pod", "a").other_queues] == ["large"]
    owner = a_queue("owner").with_quota({H200: 7}).deserving_cards({H200: 7})
    see(ledger, owner.lending({H200: 0}))
    assert [one.queue for one in explained(ledger, "Pod", "a").other_queues] == ["owner"]


def test_f5_a_group_whose_pods_are_still_to_come() -> None:
    ledger = a_cluster(a_group("early").in_queue("queue").of(2).asking({H200: 6}), quota=4)
    see(ledger, a_queue("large").with_quota({H200: 7}))
    found = explained(ledger, "PodGroup", "early")
    assert (found.state, found.place) == (WorkloadState.WAITS, 1)
    assert found.reason == v.Reason.INSUFFICIENT_CARD
    assert [(one.name, one.amount) for one in found.asks] == [(H200, 6)]
    assert [(one.queue, one.left) for one in found.other_queues] == [("large", 7)]
    see(ledger, a_group("both").in_queue("queue").of(2).asking({H200: 5, H800: 1}))
    assert explained(ledger, "PodGroup", "both").other_queues == ()


def test_f5_a_group_that_runs_and_one_that_is_empty() -> None:
    ledger = a_cluster(
        a_group("runs").in_queue("queue").of(2),
        holding("m0").in_group("runs"),
        holding("m1").in_group("runs"),
        a_group("idle").in_queue("queue").of(2),
    )
    found = explained(ledger, "PodGroup", "runs")
    assert (found.state, found.message) == (
        WorkloadState.FITS,
        answer_messages.all_pods_there(2),
    )
    found = explained(ledger, "PodGroup", "idle")
    assert (found.state, found.message) == (
        WorkloadState.WAITS,
        answer_messages.group_without_pods(),
    )
    see(ledger, a_group("kept").in_queue("queue").of(2).asking({H200: 2}))
    see(
        ledger,
        a_group("kept").in_queue("queue").of(2).asking({H200: 2}).enqueued("queue", {H200: 2}),
    )
    found = explained(ledger, "PodGroup", "kept")
    assert found.message == answer_messages.group_reserved([(H200, 2)])
    assert [(one.name, one.amount) for one in found.asks] == [(H200, 2)]


def test_f5_a_job_of_volcano_is_found_by_its_group_before_its_pods() -> None:
    name = "train-0a1b2c3d-0000-4000-8000-000000000001"
    ledger = a_cluster(
        *(a_group(f"g{n}").in_queue("queue").of(2) for n in range(AT_A_TIME)),
        a_group(name).in_queue("queue").of(2).asking({H200: 6}),
        quota=4,
    )
    found = explained(ledger, "Job", "train", volcano=True)
    assert (found.reason, found.pods.waiting) == (v.Reason.INSUFFICIENT_CARD, 0)
    assert nothing(ledger, "Job", "train", volcano=False)
    assert nothing(ledger, "Job", "tra", volcano=True)


# --- workloads --------------------------------------------------------------------------------


def test_f5_a_workload_is_told_of_by_its_first_pod_that_waits() -> None:
    ledger = a_cluster(
        holding("a").owned_by("Job", name="train"),
        waiting("b", created="2026-01-02T11:00:00Z"),
        waiting("c", created="2026-01-02T09:00:00Z"),
        waiting("d", created="2026-01-02T08:00:00Z").terminating(),
        released("e").owned_by("Job", name="train"),
        quota=2,
    )
    found = explained(ledger, "Job", "train")
    assert (found.pods.running, found.pods.released, found.pods.waiting) == (1, 1, 3)
    assert found.place == 1
    assert found.state == WorkloadState.WAITS


def test_f5_jobs_of_volcano_and_of_kubernetes_are_told_apart() -> None:
    theirs = waiting("v").owned_by("Job", "batch.volcano.sh/v1alpha1", name="train")
    ledger = a_cluster(theirs, waiting("k"), quota=0)
    assert explained(ledger, "Job", "train").pods.waiting == 2
    assert explained(ledger, "Job", "train", volcano=True).pods.waiting == 1
    assert explained(ledger, "Job", "train", volcano=False).pods.waiting == 1


@pytest.mark.parametrize("known", [True, False])
def test_f5_a_deployment_has_the_pods_of_its_replica_sets(known: bool) -> None:
    mine = of_deployment("chat", "7d9f8", holding("a"))
    others = of_deployment("other", "7d9f8", holding("b"))
    ledger = a_cluster(mine, others, holding("c").owned_by("StatefulSet", name="chat"))
    if known:
        see_workload(ledger, "ReplicaSet", "chat-7d9f8", owner="chat", present=2)
        see_workload(ledger, "Deployment", "chat", present=2)
    found = explained(ledger, "Deployment", "chat")
    assert (found.pods.running, found.state) == (1, WorkloadState.FITS)
    assert explained(ledger, "ReplicaSet", "other-7d9f8").pods.running == 1


def test_f5_a_rolling_update_that_is_refused_does_not_fit() -> None:
    """The old pods are all there, so the Deployment itself counts as many pods as it wants."""
    pods = [of_deployment("chat", "old", holding(f"h{n}")) for n in range(3)]
    ledger = a_cluster(*pods, quota=3)
    see_workload(ledger, "Deployment", "chat", wants=3, present=3)
    see_workload(ledger, "ReplicaSet", "chat-old", owner="chat", wants=3, present=3)
    see_workload(ledger, "ReplicaSet", "chat-new", owner="chat", wants=1)
    found = explained(ledger, "Deployment", "chat")
    assert (found.state, found.reason) == (WorkloadState.REFUSED, v.Reason.INSUFFICIENT_CARD)
    assert (found.pods.running, found.pods.lacking) == (3, 1)
    assert explained(ledger, "ReplicaSet", "chat-old").state == WorkloadState.FITS


def test_f5_a_workload_whose_template_is_too_large_to_be_kept() -> None:
    ledger = a_cluster()
    see_workload(ledger, "StatefulSet", "db", template=False)
    found = explained(ledger, "StatefulSet", "db")
    assert (found.state, found.message) == (
        WorkloadState.COMING,
        answer_messages.TEMPLATE_NOT_KEPT,
    )
    see_workload(ledger, "StatefulSet", "db", wants=0, template=False)
    assert explained(ledger, "StatefulSet", "db").message == answer_messages.wants_no_pods()


def test_f5_where_a_queue_is_required() -> None:
    ledger = a_cluster()
    see_workload(ledger, "StatefulSet", "db", queue=None)
    assert explained(ledger, "StatefulSet", "db").state == WorkloadState.COMING
    found = explained(ledger, "StatefulSet", "db", require_queue=True)
    assert (found.state, found.reason) == (WorkloadState.REFUSED, v.Reason.QUEUE_NOT_FOUND)


# --- what would let it in ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "suggested"),
    [
        ({}, [H800]),
        ({"nvidia.com/gpu.product": H200}, []),
        ({"pool": "h200"}, []),
        ({"pool": "both"}, [H800]),
        ({"pool": "of-no-node-yet"}, [H800]),
    ],
)
def test_f6_only_cards_that_its_own_selector_allows_would_help(
    selector: dict[str, str], suggested: list[str]
) -> None:
    ledger = a_cluster(waiting("w", 4).on_nodes_labelled(selector))
    see(ledger, a_queue().with_quota({H200: 3, H800: 6}))
    for name, card, pool in (("a", H200, "h200"), ("b", H200, "both"), ("c", H800, "both")):
        see(ledger, a_node(name).with_cards(card, 8).labelled("pool", pool))
    assert [one.name for one in explained(ledger, "Pod", "w").other_cards] == suggested


def test_f6_only_what_nodes_have_free_would_help() -> None:
    ledger = a_cluster(waiting("w", 6), quota=5)
    other = a_pod("o").with_uid("o").in_queue("b").naming(H800).asking_for(4)
    see(
        ledger,
        a_queue().with_quota({H200: 5, H800: 8}),
        other.stamped("b", {H800: 4}).on_node("h800-a"),
        a_queue("b").with_quota({H200: 8}),
    )
    found = explained(ledger, "Pod", "w")
    assert (found.other_cards, [one.queue for one in found.other_queues]) == ((), ["b"])
    see(ledger, a_node("h200-a").with_cards(H200, 4), a_node("h200-b").with_cards(H200, 4))
    found = explained(ledger, "Pod", "w")
    assert found.other_queues == ()


def test_f6_who_lacks_cpu_or_memory_gets_in_with_no_other_card_of_his_queue() -> None:
    ledger = a_cluster(waiting("w", 4).with_cpu("8"), quota=3)
    see(
        ledger,
        a_queue().with_quota({H200: 3, H800: 6}).limited_to("4"),
        a_queue("b").with_quota({H200: 6}).limited_to("8"),
        a_queue("c").with_quota({H200: 7}).limited_to("7"),
    )
    found = explained(ledger, "Pod", "w")
    assert found.other_cards == ()
    assert [one.queue for one in found.other_queues] == ["b"]
    see(ledger, a_queue().with_quota({H200: 3, H800: 6}).limited_to("8"))
    late = a_pod("late").with_uid("late").in_queue("d").naming(f"{H200}|{H800}").asking_for(2)
    see(ledger, late, a_queue("d").with_quota({H200: 4, H800: 1}))
    found = explained(ledger, "Pod", "w")
    assert [one.name for one in found.other_cards] == [H800]
    assert [one.queue for one in found.other_queues] == ["b"]


def test_f6_cpu_and_memory_of_a_group_count_before_its_pods_are_there() -> None:
    group = a_group("early").in_queue("queue").of(2).asking({H200: 6}, cpu="8")
    ledger = a_cluster(group)
    see(
        ledger,
        a_queue().with_quota({H200: 4}).limited_to("4"),
        a_queue("b").with_quota({H200: 6}).limited_to("8"),
        a_queue("c").with_quota({H200: 7}).limited_to("7"),
    )
    found = explained(ledger, "PodGroup", "early")
    assert [one.queue for one in found.other_queues] == ["b"]


def test_f6_of_a_queue_that_takes_nothing_other_queues_are_told() -> None:
    ledger = a_cluster(waiting("w", 1))
    see(ledger, a_queue().with_quota({H200: 4, H800: 4}).closed())
    see(ledger, *(a_queue(f"q{n:03}").with_quota({H200: 1}) for n in range(100)))
    found = explained(ledger, "Pod", "w")
    assert (found.reason, found.other_cards) == (v.Reason.QUEUE_NOT_OPEN, ())
    assert [one.queue for one in found.other_queues] == ["q000", "q001", "q002"]


def test_f6_without_cards_nothing_is_proposed() -> None:
    pod = a_pod("w").with_uid("w").in_queue("queue").with_cpu("8").gated().owned_by("Job")
    ledger = a_cluster()
    see(ledger, a_queue().with_quota({}).limited_to("4"), pod)
    found = explained(ledger, "Pod", "w")
    assert found.reason == v.Reason.INSUFFICIENT_CPU
    assert (found.other_queues, found.asks) == ((), ())


# --- bounds -----------------------------------------------------------------------------------


def test_f2_only_the_largest_holders_are_named() -> None:
    pods = [holding(f"h{n}", 1 + n % 2) for n in range(8)]
    ledger = a_cluster(*pods, waiting("w"), quota=12)
    found = explained(ledger, "Pod", "w")
    assert (len(found.holders), found.more_holders) == (5, 3)
    assert found.holders[0].name == "h1"


def test_f2_between_any_two_steps_everything_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_pods, "AT_A_TIME", 1)

    def the_cluster() -> Ledger:
        return a_cluster(
            a_group("gang").in_queue("queue").of(2),
            waiting("m0", 2).in_group("gang"),
            waiting("m1", 2).in_group("gang"),
            waiting("w", 2),
            holding("h").owned_by("Job", name="train"),
            quota=1,
        )

    for kind, name in (("Job", "train"), ("Pod", "w"), ("PodGroup", "gang")):
        for number in range(sum(1 for _ in steps_of(the_cluster(), kind, name))):
            ledger = the_cluster()
            steps = steps_of(ledger, kind, name)
            for _ in range(number + 1):
                next(steps)
            for uid in list(ledger.pods):
                ledger.pod_gone(uid)
            ledger.group_gone("team/gang")
            ledger.queue_gone("queue")
            to_its_end(steps)


@pytest.mark.parametrize("fifo", [False, True])
@pytest.mark.parametrize("becomes", ["released", "re-queued", "being deleted"])
def test_f2_between_any_two_steps_a_pod_may_be_released(
    becomes: str, fifo: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_pods, "AT_A_TIME", 1)
    changed = {
        "released": released("w").owned_by("Job", name="train"),
        "re-queued": waiting("w").in_queue("other"),
        "being deleted": waiting("w").terminating(),
    }[becomes]

    def the_cluster() -> Ledger:
        queue = a_queue().with_quota({H200: 4})
        ledger = a_cluster(waiting("w"), waiting("x", created="2026-01-02T11:00:00Z"))
        see(ledger, queue.fifo() if fifo else queue, a_queue("other").with_quota({H200: 1}))
        return ledger

    for kind, name in (("Job", "train"), ("Pod", "w")):
        for number in range(sum(1 for _ in steps_of(the_cluster(), kind, name))):
            ledger = the_cluster()
            steps = steps_of(ledger, kind, name)
            for _ in range(number + 1):
                next(steps)
            see(ledger, changed)
            found = to_its_end(steps)
            assert found is not None
            expected = {
                "released": WorkloadState.RELEASED,
                "re-queued": WorkloadState.WAITS,
                "being deleted": WorkloadState.ENDS,
            }
            states = {WorkloadState.WAITS, expected[becomes]}
            assert found.state in states


# --- what is there, though it does not fit ----------------------------------------------------


def test_f5_half_a_gang_does_not_fit() -> None:
    members = [holding(f"m{n}").in_group("gang") for n in range(2)]
    ledger = a_cluster(a_group("gang").in_queue("queue").of(4), *members)
    found = explained(ledger, "PodGroup", "gang")
    assert found.state == WorkloadState.WAITS
    assert found.message == answer_messages.gang_lacks_members(2, 4)
    assert explained(ledger, "Pod", "m0").state == WorkloadState.FITS
    see(ledger, a_group("gang").in_queue("queue").of(2))
    assert explained(ledger, "PodGroup", "gang").state == WorkloadState.FITS


def test_f5_what_is_being_deleted_does_not_fit() -> None:
    ledger = a_cluster(holding("h").terminating(), released().terminating())
    for name in ("h", "p"):
        found = explained(ledger, "Pod", name)
        assert (found.state, found.reason) == (WorkloadState.ENDS, "")
        assert found.message == answer_messages.being_deleted([(H200, 1)])


def test_f5_of_a_workload_one_that_stays_is_told_of() -> None:
    pods = [holding(name).owned_by("StatefulSet", name="db") for name in ("a", "b")]
    ledger = a_cluster(pods[0].terminating(), pods[1])
    assert explained(ledger, "StatefulSet", "db").state == WorkloadState.FITS
    see(ledger, pods[1].terminating())
    assert explained(ledger, "StatefulSet", "db").state == WorkloadState.ENDS


# --- groups without pods ----------------------------------------------------------------------


def test_f5_a_group_whose_pods_have_ended_waits_for_nothing() -> None:
    ended = a_group("done").in_queue("queue").of(2).asking({H200: 2})
    ledger = a_cluster(
        ended.in_phase("Completed"),
        a_group("ran").in_queue("queue").of(1),
        a_pod("m").with_uid("m").in_queue("queue").in_group("ran").in_phase("Succeeded"),
    )
    for name in ("done", "ran"):
        found = explained(ledger, "PodGroup", name)
        assert (found.state, found.reason, found.place) == (WorkloadState.ENDS, "", 0)
        assert found.message == answer_messages.group_is_over()


def test_f5_a_group_without_pods_in_a_queue_that_takes_nothing() -> None:
    closed = a_queue("closed").with_quota({H200: 4}).closed()
    ledger = a_cluster(
        closed,
        a_group("shut").in_queue("closed").of(2),
        a_group("lost").in_queue("nowhere").of(2),
    )
    for name, reason in (("shut", v.Reason.QUEUE_NOT_OPEN), ("lost", v.Reason.QUEUE_NOT_FOUND)):
        found = explained(ledger, "PodGroup", name)
        assert (found.state, found.reason) == (WorkloadState.WAITS, reason)
    see(ledger, a_namespace("team").in_mode("audit"))
    assert explained(ledger, "PodGroup", "lost").message == answer_messages.group_without_pods()


# --- what would become of the next pod --------------------------------------------------------


def test_f5_a_workload_whose_pods_use_no_cards_is_not_said_to_want_none() -> None:
    ledger = a_cluster()
    see_workload(ledger, "StatefulSet", "db", wants=3, present=3)
    found = explained(ledger, "StatefulSet", "db")
    assert (found.state, found.message) == (WorkloadState.FITS, answer_messages.pods_not_known())


def test_f5_the_next_pod_would_wait_at_the_gate() -> None:
    ledger = a_cluster(holding("h", 4), quota=4)
    see(ledger, a_queue().with_quota({H200: 4}).with_policy("Gate"))
    see_workload(ledger, "StatefulSet", "db")
    found = explained(ledger, "StatefulSet", "db")
    assert found.state == WorkloadState.COMING
    assert found.message.startswith(
        "its next pod would be created and wait at the gate: Queue <queue> has insufficient"
    )


# --- what is not read -------------------------------------------------------------------------


def test_p8_of_a_pod_or_group_of_which_only_the_name_is_kept_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("WAITING_PODS", "IDLE_GROUPS"):
        limit = getattr(ledger_reader, name)._replace(most=1)
        monkeypatch.setattr(ledger_reader, name, limit)
    ledger = a_cluster(waiting("w", 3), a_group("train").in_queue("red"), quota=3)
    for kind, name in (("Pod", "w"), ("PodGroup", "train")):
        found = explained(ledger, kind, name)
        assert (found.state, found.reason) == (WorkloadState.WAITS, v.Reason.TOO_MUCH_KEPT)
        assert " is not read, and " in found.message
        assert "wait until others have started" in found.message
    assert nothing(ledger, "Pod", "another")
