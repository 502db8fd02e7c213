"""Card memory that cannot be read is told once per change, and never of a node that is well."""

from builders import GPU, a_ledger, a_node, a_pod, see
from cardquota.control.reports import MemoryReports
from cardquota.quota import vocabulary as v

from ..fakes import Told

NODE = a_node("n").sharing_memory(32552, 2)


def test_b2_a_pod_of_an_unknown_card_is_told_once() -> None:
    ledger, told = a_ledger(NODE), Told()
    reports = MemoryReports(ledger, told)  # type: ignore[arg-type]
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
    reports = MemoryReports(ledger, told)  # type: ignore[arg-type]
    for text in ("1, 2", "1", "1, 2"):
        ledger.card_memory.unhealthy_seen("n", text)
        reports.look()
    assert [text for _, _, text in told.events] == [told.events[0][2]] * 2
    MemoryReports(ledger, told).look()  # type: ignore[arg-type]
    assert len(told.events) == 3, "the next leader tells it again"


def test_b1_cards_that_cannot_be_read() -> None:
    ledger, told = a_ledger(a_node("n").offering(7, v.GPU_MEMORY)), Told()
    MemoryReports(ledger, told).look()  # type: ignore[arg-type]
    assert "<7> is offered without aliyun.com/gpu-count" in told.events[0][2]


def test_b3_a_mixed_node() -> None:
    ledger, told = a_ledger(NODE.offering(8, GPU)), Told()
    see(ledger, a_pod("m").on_card("n", 0, 5), a_pod("w").asking_for(1).on_node("n"))
    MemoryReports(ledger, told).look()  # type: ignore[arg-type]
    assert "it has pods that ask for whole cards and pods that ask for card" in told.events[0][2]


def test_of_many_nodes_some_are_told_at_a_time() -> None:
    nodes = [a_node(f"n{i}").offering(7, v.GPU_MEMORY) for i in range(50)]
    ledger, told = a_ledger(*nodes), Told()
    reports = MemoryReports(ledger, told)  # type: ignore[arg-type]
    assert [reports.look() for _ in range(4)] == [False, False, True, True]
    assert len(told.events) == 50


def test_of_a_node_that_is_gone_nothing_is_told() -> None:
    ledger, told = a_ledger(a_pod("p").asking_for_memory(7).on_node("n")), Told()
    MemoryReports(ledger, told).look()  # type: ignore[arg-type]
    assert told.events == []
