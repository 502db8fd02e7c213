"""What the leader tells of objects: once per change, some at a time (D7, D9, section 2, P8)."""

from dataclasses import replace

import pytest

from builders import GPU, H200, H800, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from cardquota.control.queues import refresh
from cardquota.control.reports import (
    ConditionEvents,
    MemoryReports,
    NamespaceReports,
    Reports,
    report_left_out,
    report_nodes,
)
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger, ledger_reader
from cardquota.quota.reports import QueueReport, report

from ..fakes import Told, a_world


def a_view(quota: int = 3, held: int = 0) -> QueueReport:
    pod = a_pod("p").in_queue("queue").stamped("queue", {H200: held}).on_node("h200-a")
    found = report(a_world(a_queue().with_quota({H200: quota}), pod), "queue")
    assert found is not None
    return found


def reasons(told: Told) -> list[str]:
    found = [reason for _, reason, _ in told.events]
    told.events.clear()
    return found


def test_what_begins_and_what_is_over_is_told_once() -> None:
    told = Told()
    events = ConditionEvents(told)
    well = a_view()
    over = a_view(3, 4)
    events.look("queue", well)
    assert reasons(told) == [], "that all is well is no news"
    events.look("queue", over)
    assert [text for *_, text in told.events] == [over.conditions[1].message]
    assert reasons(told) == [v.Condition.OVER_QUOTA]
    events.look("queue", a_view(3, 5))
    assert reasons(told) == [], "nor are numbers"
    events.look("queue", replace(over, quota_problem="no JSON"))
    assert reasons(told) == [v.Condition.QUOTA_VALID]
    events.look("queue", well)
    assert sorted(reasons(told)) == [v.Condition.OVER_QUOTA, v.Condition.QUOTA_VALID]
    events.look("queue", well)
    assert reasons(told) == []


def test_another_queue_of_the_same_name_is_another() -> None:
    told = Told()
    events = ConditionEvents(told)
    over = a_view(3, 4)
    events.look("queue", over)
    events.look("queue", replace(over, uid="another"))
    assert reasons(told) == [v.Condition.OVER_QUOTA] * 2
    events.look("queue", None)
    events.look("queue", a_view())
    assert reasons(told) == []


async def test_each_is_told_once_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WAITING_PODS", "IDLE_GROUPS"):
        limit = getattr(ledger_reader, name)._replace(most=1)
        monkeypatch.setattr(ledger_reader, name, limit)
    pods = [a_pod(f"p{n}").in_queue("red").gated() for n in range(3)]
    ledger, told = a_ledger(*pods, a_group("train")), Told()
    assert report_left_out(ledger, told)
    assert told.events == []
    reports = Reports(ledger, told)
    calls = [report_left_out(ledger, told) for _ in range(3)]
    assert calls == [False, True, True]
    assert [(name, reason) for name, reason, _ in told.events] == [
        (name, "NotRead") for name in ("p0", "p1", "train", "p2")
    ]
    text = told.events[0][2]
    assert text.startswith("the pod is not read, and waits: with it, the pods that wait would")
    assert text.endswith("are kept; wait until others have started, or delete some of them")
    reports.stop()
    metrics = Metrics()
    await refresh(ledger, metrics)
    value = metrics.registry.get_sample_value
    assert value("cardquota_left_out_objects", {"kind": "pods"}) == 3
    assert value("cardquota_left_out_objects", {"kind": "podgroups"}) == 1
    assert value("cardquota_kept_bytes", {"kind": "pods"}) == 0


NODE = a_node("n").sharing_memory(32552, 2)


def test_b2_a_pod_of_an_unknown_card_is_told_once() -> None:
    ledger, told = a_ledger(NODE), Told()
    reports = MemoryReports(ledger, told)
    assert reports.look()
    assert told.events == []
    bad = a_pod("p").asking_for_memory(7).on_node("n")
    for revision in (1, 2):
        see(ledger, bad.at_revision(revision))
        assert reports.look()
    assert told.events == [
        (
            "n",
            v.CARD_MEMORY_UNREADABLE,
            (
                "card memory of node <n>: the card of 1 pod is not known (team/p), so their "
                "memory is taken from every card; `kubectl cardquota inspect` shows its cards and "
                "pods"
            ),
        )
    ]
    see(ledger, a_pod("q").asking_for_memory(8).on_node("n"))
    reports.look()
    assert "2 pods is not known (team/p, team/q)" in told.events[1][2]


def test_b2_a_bad_list_is_told_again_after_it_was_corrected() -> None:
    ledger, told = a_ledger(NODE), Told()
    reports = MemoryReports(ledger, told)
    for text in ("1, 2", "1", "1, 2"):
        ledger.card_memory.unhealthy_seen("n", text)
        reports.look()
    assert [text for _, _, text in told.events] == [told.events[0][2]] * 2
    MemoryReports(ledger, told).look()
    assert len(told.events) == 3, "the next leader tells it again"


def test_b1_cards_that_cannot_be_read() -> None:
    ledger, told = a_ledger(a_node("n").offering(7, v.GPU_MEMORY)), Told()
    MemoryReports(ledger, told).look()
    assert "<7> is offered without aliyun.com/gpu-count" in told.events[0][2]


def test_b3_a_mixed_node() -> None:
    ledger, told = a_ledger(NODE.offering(8, GPU)), Told()
    see(ledger, a_pod("m").on_card("n", 0, 5), a_pod("w").asking_for(1).on_node("n"))
    MemoryReports(ledger, told).look()
    assert "it has pods that ask for whole cards and pods that ask for card" in told.events[0][2]


def test_of_many_nodes_some_are_told_at_a_time() -> None:
    nodes = [a_node(f"n{i}").offering(7, v.GPU_MEMORY) for i in range(50)]
    ledger, told = a_ledger(*nodes), Told()
    reports = MemoryReports(ledger, told)
    assert [reports.look() for _ in range(4)] == [False, False, True, True]
    assert len(told.events) == 50


def test_of_a_node_that_is_gone_nothing_is_told() -> None:
    ledger, told = a_ledger(a_pod("p").asking_for_memory(7).on_node("n")), Told()
    MemoryReports(ledger, told).look()
    assert told.events == []


async def shown(ledger: Ledger) -> float | None:
    metrics = Metrics()
    await refresh(ledger, metrics)
    return metrics.registry.get_sample_value("cardquota_namespaces_with_unknown_mode")


async def test_told_once_per_value_and_forgotten_when_it_is_put_right() -> None:
    ledger, told = a_ledger(a_namespace("good").in_mode("enforced"), a_namespace("none")), Told()
    reports = NamespaceReports(ledger, told)
    reports.look()
    assert told.events == []
    assert await shown(ledger) == 0

    bad = a_namespace("bad").in_mode("enforce")
    see(ledger, bad)
    for _ in range(2):
        see(ledger, bad.with_default_queue("red"))
        reports.look()
    ((name, reason, text),) = told.events
    assert (name, reason) == ("bad", v.MODE_UNKNOWN)
    assert text.startswith(
        "Namespace <bad>: the label volcano.sh/card-quota is <enforce>, an unknown value"
    )
    assert text.endswith("write enforced, audit or off, or remove the label")
    assert await shown(ledger) == 1

    see(ledger, bad.in_mode("on"))
    reports.look()
    assert "<on>" in told.events[-1][2]
    see(ledger, bad.in_mode("off"))
    reports.look()
    assert (len(told.events), await shown(ledger)) == (2, 0)
    see(ledger, bad.in_mode("on"))
    reports.look()
    assert len(told.events) == 3
    ledger.namespace_gone("bad")
    assert await shown(ledger) == 0


def test_of_very_many_some_are_told_at_a_time_and_each_once() -> None:
    bad = [a_namespace(f"n{n}").in_mode("enforce") for n in range(250)]
    ledger, told = a_ledger(*bad), Told()
    reports = NamespaceReports(ledger, told)
    looks = list[int]()
    for _ in range(4):
        done, before = reports.look(), sum(looks)
        looks.append(len(told.events) - before)
        assert done == (len(looks) >= 3)
    assert looks == [100, 100, 50, 0]
    assert sorted(name for name, *_ in told.events) == sorted(f"n{n}" for n in range(250))


def test_the_next_leader_tells_it_again() -> None:
    ledger, told = a_ledger(a_namespace("bad").in_mode("Enforced")), Told()
    for _ in range(2):
        NamespaceReports(ledger, told).look()
    assert len(told.events) == 2


@pytest.mark.parametrize(
    ("whole", "start"),
    [(4, "some cards of node <node> are not"), (0, "cards of node <node> are not")],
)
def test_d9_a_node_is_told_once_and_nothing_wrong_of_other_cards(whole: int, start: str) -> None:
    ledger, told = a_ledger(), Told()
    bad = a_node().sharing(H800, 8, "81559", replicas="0").offering(whole)
    see(ledger, bad, a_node("good").with_cards(H200, 8))
    for _ in range(2):
        report_nodes(ledger, told)
    ((_, reason, text),) = told.events
    assert reason == v.NOT_COUNTED
    assert text.startswith(start)


def test_of_a_cluster_of_bad_nodes_some_are_reported_at_a_time_and_each_once() -> None:
    bad = [a_node(f"n{n}").sharing(H800, 8, "81559", replicas="0") for n in range(250)]
    ledger, told = a_ledger(*bad), Told()
    ledger.decisions.begin_term()
    calls = [report_nodes(ledger, told) for _ in range(4)]
    assert calls == [False, False, True, True]
    assert sorted(name for name, *_ in told.events) == sorted(f"n{n}" for n in range(250))
