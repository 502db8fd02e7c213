"""What is not counted of a node is told by an event that says whether its other cards are (D9)."""

import pytest

from builders import H200, H800, a_ledger, a_node, see
from cardquota.control.reports import report_nodes
from cardquota.quota import vocabulary as v

from ..fakes import Told


@pytest.mark.parametrize(
    ("whole", "start"),
    [(4, "some cards of node <node> are not"), (0, "cards of node <node> are not")],
)
def test_d9_a_node_is_told_once_and_of_its_other_cards_nothing_wrong_is_said(
    whole: int, start: str
) -> None:
    ledger, told = a_ledger(), Told()
    bad = a_node().sharing(H800, 8, "81559", replicas="0").offering(whole)
    see(ledger, bad, a_node("good").with_cards(H200, 8))
    for _ in range(2):
        report_nodes(ledger, told)  # type: ignore[arg-type]
    ((_, reason, text),) = told.events
    assert reason == v.NOT_COUNTED
    assert text.startswith(start)


def test_of_a_cluster_of_bad_nodes_some_are_reported_at_a_time_and_each_once() -> None:
    """As when a term begins."""
    bad = [a_node(f"n{n}").sharing(H800, 8, "81559", replicas="0") for n in range(250)]
    ledger, told = a_ledger(*bad), Told()
    ledger.decisions.begin_term()
    calls = [report_nodes(ledger, told) for _ in range(4)]  # type: ignore[arg-type]
    assert calls == [False, False, True, True]
    assert sorted(name for name, *_ in told.events) == sorted(f"n{n}" for n in range(250))
