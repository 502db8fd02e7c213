"""Section 6: what people see of a card over the whole cluster, and what a smaller cluster means."""

import pytest

from builders import a_node
from cardquota.quota import vocabulary as v
from integration.asking import metric
from integration.own_node import a_node_of
from integration.team import Team


@pytest.mark.slow
def test_the_totals_of_the_cluster_and_a_cluster_that_shrinks(team: Team) -> None:
    """Use is on-line or off-line by the queues' policy; no quota is lowered, nothing evicted."""
    card = f"{team.prefix}-card"

    def total(name: str, **labels: str) -> float:
        return metric(team.cluster, f"cardquota_cluster_card_{name}", card=card, **labels)

    with a_node_of(team, a_node(f"{team.prefix}-node").with_cards(card, "8")):
        team.until(lambda: total("allocatable") == 8, "the node is counted")
        team.has_queue(team.a_queue({card: 4}, "serving").with_policy("Deny"), "serving")
        team.has_queue(team.a_queue({card: 4}, "training").with_policy("Gate"), "training")
        assert team.create(team.a_pod("a", 1, card, queue="serving")).ok
        assert team.create(team.a_pod("b", 2, card, queue="training")).ok
        team.until_bound("a", "b")
        team.until_row(card, "training", allocated=2, guarantee=4, deserved=4)

        assert (total("guarantee"), total("quota"), total("oversold")) == (8, 8, 0)
        assert total("allocated") == 3
        for policy, allocated in (("Deny", 1), ("Gate", 2)):
            assert total("allocated_by_policy", policy=policy) == allocated
            assert total("guarantee_by_policy", policy=policy) == 4
        assert team.condition(v.Condition.OVERSOLD, "training")["status"] == "False"

    team.until(lambda: total("oversold") == 8, "the node is gone")
    team.until_row(card, "training", allocated=2, quota=4, guarantee=4, deserved=0)
    assert total("allocated") == 3
    assert [total("oversold_by_policy", policy=policy) for policy in ("Deny", "Gate")] == [4, 4]
    oversold = team.condition(v.Condition.OVERSOLD, "training")
    assert oversold["status"] == "True"
    assert oversold["message"].startswith(f"quotas for <{card}> add up to 8")
