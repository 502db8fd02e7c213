"""What people see of card memory."""

from builders import GPU, H200, a_ledger, a_node, a_pod
from cardquota.quota import to_its_end
from cardquota.quota.cards import CardPlacement, MemoryPod
from cardquota.quota.reports import (
    MemoryNodeRow,
    MemoryPodRow,
    SharedCardRow,
    UnitTotal,
    memory_report,
    node_row,
)


def test_b8_cards_pods_and_sums_by_unit() -> None:
    share = (
        a_node("share")
        .sharing_memory(200, 2)
        .labelled("aliyun.accelerator/nvidia_name", "Tesla-V100")
    )
    large = a_node("large").sharing_memory(32552, 2)
    ledger = a_ledger(
        share,
        large,
        a_node("cards").with_cards(H200, 8),
        a_pod("b").on_card("share", 1, 30),
        a_pod("a").on_card("share", 1, 20).annotated("ALIYUN_COM_GPU_MEM_ASSIGNED", "true"),
        a_pod("c").on_card("share", 5, 7).terminating(),
        a_pod("d").on_card("share", "x", 3),
        a_pod("waits").asking_for_memory(50),
        a_pod("gated").asking_for_memory(60).gated(),
        a_pod("bound").asking_for_memory(9),
    )
    pod = MemoryPod("team", "bound", CardPlacement(0, 9))
    ledger.card_memory.assume("large", "uid-bound", pod)
    ledger.card_memory.unhealthy_seen("large", "1, 0")
    found = to_its_end(memory_report(ledger))
    assert found.nodes[1] == MemoryNodeRow(
        "share",
        "by-memory",
        "GiB",
        "Tesla-V100",
        200,
        60,
        (
            SharedCardRow(0, 100, 0, True, ()),
            SharedCardRow(
                1,
                100,
                50,
                True,
                (
                    MemoryPodRow("team", "a", 20, "assigned"),
                    MemoryPodRow("team", "b", 30, "assumed"),
                ),
            ),
        ),
        (
            MemoryPodRow("team", "c", 7, "terminating", "the node has no card <5>"),
            MemoryPodRow(
                "team",
                "d",
                3,
                "assumed",
                "annotation ALIYUN_COM_GPU_MEM_IDX <x> is not the index of a card",
            ),
        ),
    )
    assert found.nodes[0].cards[0].pods == (MemoryPodRow("team", "bound", 9, "binding"),)
    assert "1, 0" in found.nodes[0].problems[0]
    assert found.pending == (
        MemoryPodRow("team", "gated", 60, "gated"),
        MemoryPodRow("team", "waits", 50, "pending"),
    )
    assert found.totals == {"GiB": UnitTotal(2, 200, 60), "MiB": UnitTotal(2, 32552, 9)}


def test_b8_one_node_whatever_it_is() -> None:
    ledger = a_ledger(
        a_node("cards").with_cards(H200, 8),
        a_pod("w").asking_for(3).on_node("cards"),
        a_node("cpu"),
    )
    assert node_row(ledger, "cards") == MemoryNodeRow(
        "cards", "by-card", product=H200, whole={GPU: "3/8"}
    )
    assert node_row(ledger, "cpu") == MemoryNodeRow("cpu", "without cards")
    assert ledger.nodes.free.use_of("cpu", GPU) is None
    assert node_row(ledger, "other") is None


def test_b8_pods_of_a_node_that_is_gone() -> None:
    ledger = a_ledger(a_node("n").sharing_memory(200, 2), a_pod("p").on_card("n", 0, 5))
    ledger.node_gone("n")
    assert node_row(ledger, "n") is None
    found = to_its_end(memory_report(ledger))
    assert [(row.name, row.kind, row.used) for row in found.nodes] == [("n", "gone", 5)]
    assert found.totals == {}
    assert ledger.nodes.product_of("n") == ""
    assert ledger.nodes.get("n") is None
