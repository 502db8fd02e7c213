"""`check`, section `nodes`: cards that are not counted, or not recognised (D6, D7)."""

from builders import H200, a_ledger, a_node
from cardquota.cli.check import CheckedCluster
from cardquota.cli.check.cards_sections import nodes_section
from cardquota.quota import vocabulary as v


def test_nothing_is_wrong() -> None:
    section = nodes_section(CheckedCluster(a_ledger(a_node("n").with_cards(H200, 8))))
    assert (section.findings, section.notes, section.complete) == ([], [], True)


def test_a_node_without_the_label_of_its_card() -> None:
    section = nodes_section(CheckedCluster(a_ledger(a_node("bare").offering(4))))
    (one,) = section.findings
    assert (one.kind, one.name, one.reason) == ("Node", "bare", v.NOT_COUNTED)
    assert one.why.startswith("cards of node <bare> are not counted: ")
    assert one.why_and_advice == one.why


def test_a_card_in_no_vendor_row() -> None:
    node = a_node("odd").with_cards("ODD", 4, "odd.example.com/card")
    (one,) = nodes_section(CheckedCluster(a_ledger(node))).findings
    assert (one.kind, one.name, one.reason) == ("Card", "ODD", "NoVendorRow")
    assert one.why.startswith("odd.example.com/card is in no vendor row")


def test_nodes_that_may_not_be_listed() -> None:
    read = CheckedCluster(a_ledger())
    read.unread["nodes"] = "403 Forbidden: no"
    section = nodes_section(read)
    assert not section.complete
    assert section.notes == ["nodes are not all known: cards that are not counted may be missed"]
