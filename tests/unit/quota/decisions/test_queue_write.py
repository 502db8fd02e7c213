"""What is odd in the rows of a quota that is written."""

from builders import CARDS, H200, H800, a_ledger, a_node, a_pod, a_queue
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions import doubts_about_rows, known_card_meant, suggestions
from cardquota.quota.decisions.queue_write import OwedRows, doubts_about_owed
from cardquota.quota.ledger import Ledger
from cardquota.quota.messages import queue_write_messages as m

from ...steps import steps_of

HELD = [
    a_pod("bound").in_queue("red").stamped("red", {H200: 4}).on_node("h200-a"),
    a_pod("let-through").in_queue("red").stamped("red", {H200: 1}),
]


def doubts(ledger: Ledger, queue: str, *quotas: dict[str, int]) -> tuple[str, ...]:
    """`quotas`: the quota, and maybe the one before."""
    return doubts_about_rows(ledger, queue, *quotas, meant=suggestions(ledger))


def test_what_is_in_use_comes_first_then_cards_of_no_node_then_what_is_above_the_cluster() -> None:
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H200: 6}), *HELD)
    after = {H800: 9, "H20O": 1, "NVIDIA-H20O": 1, H200: 2}
    assert doubts(ledger, "red", after, {H200: 6}) == (
        m.row_below_use(H200, 2, 4, 1),
        m.row_of_no_node("H20O"),
        m.row_of_no_node("NVIDIA-H20O", H200),
        m.row_above_cluster(H800, 9, 8),
    )


def test_q7_one_card_in_use_is_one() -> None:
    assert m.row_below_use(H200, 0, 1, 0) == (
        f"<{H200}>: 1 is in use (1 allocated, 0 inqueue); nothing is evicted, nothing new starts"
    )


def test_q7_only_lower_rows_can_be_below_their_use() -> None:
    """A queue that is made again, under a name that pods still hold, lowers nothing."""
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H200: 6}), *HELD)
    assert doubts(ledger, "red", {H200: 2}) == ()
    assert doubts(ledger, "red", {H200: 5}, {H200: 6}) == ()
    assert doubts(ledger, "red", {H200: 3}, {H200: 2}) == ()
    assert doubts(ledger, "red", {H200: 2}, {H200: 2}) == ()
    assert doubts(ledger, "blue", {}, {H200: 2}) == ()


def test_q7_a_row_that_is_taken_out_is_lowered_to_none() -> None:
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H200: 1}), *HELD)
    assert doubts(ledger, "red", {}, {H200: 1}) == (m.row_below_use(H200, 0, 4, 1),)


def test_p4_a_node_whose_device_plugin_is_down_has_its_cards() -> None:
    ledger = a_ledger(a_node("n").with_cards(H200, 8), a_node("n").with_cards(H200, 0))
    assert ledger.nodes.total(H200) == 0
    assert doubts(ledger, "red", {H200: 3}) == ()


def test_p4_known_is_what_nodes_had_and_what_pods_hold_by_a_quota() -> None:
    """A card that some status has is meant only while a quota has a row for it."""
    new = "NVIDIA-B300"
    recorded = a_queue("blue").having_reported(new, 1, "nvidia.com/gpu")
    assert known_card_meant(a_ledger(recorded.with_quota({new: 1})), "B300") == new
    assert known_card_meant(a_ledger(recorded.with_quota({new: 1})), new) == ""
    assert known_card_meant(a_ledger(recorded), "B300") == ""
    gone = a_ledger(a_node("n").with_cards(new, 1))
    gone.node_gone("n")
    assert known_card_meant(gone, "B300") == new


def owed(
    quota: dict[str, int], deserved: dict[str, int], lendable: dict[str, int] | None = None
) -> OwedRows:
    return OwedRows(quota, deserved, lendable or {})


def test_l1_what_is_owed_beyond_the_quota_or_the_cluster_is_doubtful() -> None:
    ledger = a_ledger(*CARDS, a_queue("blue").with_quota({H800: 5}).deserving_cards({H800: 5}))
    rows = owed({H200: 2, H800: 9}, {H200: 3, H800: 4, "x": 1}, {"y": 2, H200: 9})
    first, second, third, fourth = doubts_about_owed(ledger, "red", rows)
    assert first == m.owed_above_quota(H200, 3, 2)
    assert second == m.owed_above_cluster(H800, 9, ledger.nodes.total(H800))
    assert third == m.owed_without_quota(v.DESERVED, "x")
    assert fourth == m.owed_without_quota(v.LENDABLE, "y")
    assert max(map(len, (first, second, third, fourth))) < 200


def test_l1_only_rows_that_a_write_adds_or_changes_are_doubtful() -> None:
    ledger = a_ledger(*CARDS, a_queue("red").with_quota({H800: 9}).deserving_cards({H800: 9}))
    rows = owed({H800: 9}, {H800: 9, "x": 1})
    assert doubts_about_owed(ledger, "red", rows, rows) == ()
    assert doubts_about_owed(ledger, "red", rows, owed({H800: 9}, {"x": 1})) == (
        m.owed_above_cluster(H800, 9, ledger.nodes.total(H800)),
    )
    lower = doubts_about_owed(ledger, "red", owed({H800: 8}, {H800: 9}), rows)
    assert m.owed_above_quota(H800, 9, 8) in lower
    assert len(doubts_about_owed(ledger, "red", owed({}, {f"c{n}": 1 for n in range(9)}))) == 5


def test_five_are_told_and_the_others_counted() -> None:
    rows = {f"card-{n}": 1 for n in range(9)}
    found = doubts(a_ledger(*CARDS), "red", rows)
    assert found[:5] == tuple(m.row_of_no_node(f"card-{n}") for n in range(5))
    assert found[5:] == (m.more_rows(4),)
    for number, more in ((5, ()), (6, (m.more_rows(1),))):
        rows = {f"card-{n}": 1 for n in range(number)}
        assert doubts(a_ledger(*CARDS), "red", rows)[5:] == more


def test_i5_a_thousand_rows_cost_little_beside_a_thousand_cards() -> None:
    """Of five the nearest name is looked for."""
    nodes = [a_node(f"n{n}").with_cards(f"NVIDIA-H{n}00-SXM", 8) for n in range(1_000)]
    ledger = a_ledger(*nodes)
    rows = {f"NVIDIA-H{n}0O-SXM": 900 for n in range(1_000)}
    assert steps_of(lambda: doubts(ledger, "red", rows)) < 200_000


def test_i5_one_write_has_five_suggestions_in_all() -> None:
    """Whatever part of the quota they are about."""
    meant = suggestions(a_ledger(*CARDS))
    assert [meant(f"NVIDIA-H20{letter}") for letter in "abc"] == [H200] * 3
    assert meant("AMD-MI300X") == ""
    rows = {f"NVIDIA-H20{letter}": 1 for letter in "de"}
    told = doubts_about_rows(a_ledger(*CARDS), "red", rows, meant=meant)
    assert [text.endswith("?") for text in told] == [True, False]
