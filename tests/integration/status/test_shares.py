"""W1: two queues share a card of which there is less than their quotas together."""

import pytest

from builders import a_node
from integration.own_node import a_node_of
from integration.team import Team


@pytest.mark.slow
def test_two_queues_show_what_they_deserve_by_weight(team: Team) -> None:
    """W1. Each of the two is told when the other one's weight or guarantee is another."""
    card = f"{team.prefix}-card"
    with a_node_of(team, a_node(f"{team.prefix}-node").with_cards(card, "8")):
        team.has_queue(team.a_queue({card: 8}, "a"), "a")
        team.has_queue(team.a_queue({card: 8}, "b"), "b")
        team.until_row(card, "a", deserved=4)
        heavy = team.a_queue({card: 8}, "a")
        assert team.patch(heavy, {"spec": {"weight": 3}}).ok
        team.until_row(card, "a", deserved=6)
        team.until_row(card, "b", deserved=2)
        guarantee = {"spec": {"guarantee": {"resource": {card: 5}}}}
        assert team.patch(team.a_queue({card: 8}, "b"), guarantee).ok
        team.until_row(card, "b", deserved=5)
        team.until_row(card, "a", deserved=3)
        assert not team.patch(heavy, {"spec": {"weight": -1}}).ok
