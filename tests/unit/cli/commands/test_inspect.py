"""Shared cards for people: columns, bars on a terminal, and all that is not as it should be."""

from dataclasses import replace

from builders import GPU, H200, Body, a_ledger, a_node, a_pod, a_queue
from cardquota.cli.commands.inspect import lines
from cardquota.quota import to_its_end
from cardquota.quota.reports import MemoryReport, memory_report, node_row

SHARE = a_node("share-a").sharing_memory(32552, 2)


def shown(*things: Body, details: bool = False, bars: bool = False, broken: str = "") -> list[str]:
    ledger = a_ledger(*things)
    if broken:
        ledger.card_memory.unhealthy_seen("share-a", broken)
    report = to_its_end(memory_report(ledger))
    return [line.plain for line in lines(report, details=details, bars=bars)]


HOLDERS = (
    a_pod("a").on_card("share-a", 1, 8138),
    a_pod("b").on_card("share-a", 1, 1024).annotated("ALIYUN_COM_GPU_MEM_ASSIGNED", "true"),
)


def test_b8_a_row_for_each_card_and_the_sum() -> None:
    assert shown(SHARE, *HOLDERS, broken="0") == [
        "NODE      CARD   USED/TOTAL       HEALTH    PODS",
        "share-a   0      0/16276 MiB      broken    0",
        "share-a   1      9162/16276 MiB   healthy   2",
        "",
        "Total: 9162/32552 MiB on 2 cards (28 %)",
        "Not limited: no quota has a row <product>/gpu-mem.",
    ]


def test_b10_nothing_is_said_where_it_is_limited_or_not_known() -> None:
    limited = a_queue().with_quota({"NVIDIA-A10/gpu-mem": 0})
    assert shown(SHARE, limited)[-1] == "Total: 0/32552 MiB on 2 cards (0 %)"
    report = replace(to_its_end(memory_report(a_ledger(SHARE))), limited=None)
    *_, last = lines(report, details=False, bars=False)
    assert last.plain.startswith("Total:")


def test_b8_a_bar_on_a_terminal() -> None:
    rows = shown(SHARE, *HOLDERS, bars=True)
    assert rows[1].endswith("0      " + "░" * 20)
    assert rows[2].endswith("2      " + "█" * 12 + "░" * 8)


def test_b8_details_name_the_pods() -> None:
    assert shown(SHARE, *HOLDERS, details=True)[3:7] == [
        "",
        "NODE      CARD   POD      MEMORY     STATE",
        "share-a   1      team/a   8138 MiB   assumed",
        "share-a   1      team/b   1024 MiB   assigned",
    ]
    assert shown(SHARE, details=True)[3] == ""


def test_b8_what_is_not_as_it_should_be() -> None:
    rows = shown(SHARE, a_pod("x").asking_for_memory(7).on_node("share-a"), broken="1, 0")
    assert rows[3] == (
        "share-a: the card of team/x (7 MiB) is not known, so every card counts as that much "
        "fuller: it has no annotation ALIYUN_COM_GPU_MEM_IDX"
    )
    assert rows[4].startswith("share-a: <1, 0> is not a list of cards")


def test_b8_pods_that_wait() -> None:
    found = shown(SHARE, a_pod("w").asking_for_memory(20000))
    assert found[3:6] == ["", "Pending:", "POD      MEMORY   STATE"]


def test_b8_no_shared_cards() -> None:
    assert shown(a_node("cards").with_cards(H200, 8)) == ["No node shares the memory of its cards."]


def test_b8_one_node_by_card() -> None:
    pod = a_pod("w").asking_for(3, GPU).on_node("cards")
    ledger = a_ledger(a_node("cards").with_cards(H200, 8), pod)
    row = node_row(ledger, "cards")
    assert row is not None
    found = lines(MemoryReport((row,), (), {}), details=False, bars=False)
    assert [line.plain for line in found] == ["cards: by-card, nvidia.com/gpu 3/8"]
    other = node_row(a_ledger(a_node("cpu")), "cpu")
    assert other is not None
    found = lines(MemoryReport((other,), (), {}), details=True, bars=True)
    assert [line.plain for line in found] == ["cpu: without cards"]
