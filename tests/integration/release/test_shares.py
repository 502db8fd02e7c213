"""W1, W2: two queues with weights share an oversold card, and who is below its share goes first."""

import pytest

from builders import a_node
from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ask
from integration.own_node import a_node_of
from integration.pod_watch import PodChanges
from integration.team import Team, let_through

PAIRS = 8
"""Of queues. Their gates are opened at once, so in the API server one may overtake another."""


@pytest.mark.slow
def test_who_is_below_its_share_goes_first(team: Team) -> None:
    """By weights of 1 and 3 each pair shares four cards. The greedy have a higher priority, come
    first by name, and hold two instead of one. One event lets all go: audit mode.
    """
    card = f"{team.prefix}-card"
    greedy = [f"greedy-{number}" for number in range(PAIRS)]
    poor = [f"poor-{number}" for number in range(PAIRS)]
    node = a_node(f"{team.prefix}-node").with_cards(card, str(4 * PAIRS))
    with a_node_of(team, node.put("110", "status", "allocatable", "pods")):
        for name in greedy:
            queue = team.a_queue({card: 4}, name).with_policy("Gate")
            team.has_queue(queue.weighing(1).with_priority(9), name)
        for name in poor:
            team.has_queue(team.a_queue({card: 4}, name).with_policy("Gate").weighing(3), name)
        for name in (*greedy, *poor):
            runs = team.a_pod(f"runs-{name}", 2 if name in greedy else 1, card, queue=name)
            assert team.create(runs).ok
        for name in (*greedy, *poor):
            team.until_bound(f"runs-{name}")
            assert team.create(team.a_pod(name, 4, card, queue=name)).ok
        for name in greedy:
            team.until_row(card, name, requested=6, allocated=2, deserved=1)
            team.until_told(name, v.Reason.INSUFFICIENT_CARD)
        for name in poor:
            team.until_row(card, name, requested=5, allocated=1, deserved=3)
            team.until_told(name, v.Reason.INSUFFICIENT_CARD)
        with team.watching() as watch:
            set_mode(team, "audit")
            order = order_of_opening(team, watch)
    assert set(order) == {*greedy, *poor}
    assert sum(map(order.index, poor)) < sum(map(order.index, greedy)), order


@pytest.mark.slow
def test_another_weight_is_another_share_for_all(team: Team) -> None:
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


def set_mode(team: Team, mode: str) -> None:
    change = {"metadata": {"labels": {v.NAMESPACE_MODE: mode}}}
    path = f"/api/v1/namespaces/{team.namespace}"
    assert ask(team.cluster, "PATCH", path, change, content_type=MERGE).ok


def order_of_opening(team: Team, watch: PodChanges) -> list[str]:
    """The pods in the order in which their gates were opened, once all are."""

    def opened() -> list[str]:
        seen = list(watch.seen)
        return list(dict.fromkeys(change.name for change in seen if let_through(change.object)))

    team.until(lambda: len(opened()) == 2 * PAIRS, "all are let through")
    return opened()
