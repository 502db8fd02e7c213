"""Which of several cards a pod gets: what all can be given (T3), and what a node has free (E7)."""

import json
from collections.abc import Iterator

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ask
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, notes, of_a_job
from integration.two_models import TwoModels, two_models


@pytest.fixture
def pools(team: Team) -> Iterator[TwoModels]:
    with two_models(team) as found:
        team.has_queue({found.near: 9, found.far: 9})
        yield found


def card_of(team: Team, name: str) -> dict[str, int]:
    team.until_open(name)
    return dict(json.loads(notes(team.pod(name))[v.ALLOCATED]))


def test_e7_the_first_that_a_node_has_free_at_once(pools: TwoModels) -> None:
    team = pools.team
    assert team.create(pools.a_pod("a", 2)).ok
    team.until_bound("a")
    assert card_of(team, "a") == {pools.near: 2}
    assert team.create(pools.a_pod("b")).ok
    team.until_bound("b")
    assert card_of(team, "b") == {pools.far: 1}


def test_e7_a_pod_on_its_way_is_counted_before_it_has_a_node(pools: TwoModels) -> None:
    """Both are created at once; the second does not wait for a card that the first will take."""
    team = pools.team
    for name in ("a", "b"):
        assert team.create(pools.a_pod(name, 2)).ok
    team.until_bound("a", "b")
    assert sorted([*card_of(team, "a"), *card_of(team, "b")]) == sorted([pools.near, pools.far])


def test_e7_a_cordoned_node_has_nothing_free(pools: TwoModels) -> None:
    team = pools.team
    pools.cordon(pools.near)
    # What a queue shows of something later tells that the node's change was seen as well.
    team.set_quota({pools.near: 9, pools.far: 8})
    team.until_row(pools.far, quota=8)
    assert team.create(pools.a_pod("a")).ok
    team.until_bound("a")
    assert card_of(team, "a") == {pools.far: 1}


def test_e7_a_tainted_node_counts_for_who_tolerates_it(pools: TwoModels) -> None:
    team = pools.team
    path = pools.node_path(pools.near)
    taint = {"key": "team", "value": "blue", "effect": "NoSchedule"}
    assert ask(team.cluster, "PATCH", path, {"spec": {"taints": [taint]}}, content_type=MERGE).ok
    team.set_quota({pools.near: 9, pools.far: 8})
    team.until_row(pools.far, quota=8)
    assert team.create(pools.a_pod("a")).ok
    tolerates = pools.a_pod("b").with_spec(tolerations=[{"key": "team", "operator": "Exists"}])
    assert team.create(tolerates).ok
    team.until_bound("a", "b")
    assert card_of(team, "a") == {pools.far: 1}
    assert card_of(team, "b") == {pools.near: 1}


def test_e7_if_no_node_has_any_the_first_with_quota(pools: TwoModels) -> None:
    """So that an autoscaler sees a pod that waits for a node."""
    team = pools.team
    for name, card in (("a", pools.near), ("b", pools.far)):
        assert team.create(pools.a_pod(name, 2, card)).ok
        team.until_bound(name)
    assert team.create(pools.a_pod("c")).ok
    assert card_of(team, "c") == {pools.near: 1}
    assert "nodeName" not in team.pod("c")["spec"]


def test_t3_who_may_choose_leaves_another_the_only_card_it_can_use(team: Team) -> None:
    """The two start together; in turn, the first would take what the second needs."""
    queue = team.a_queue({T1000: 1, T2000: 1})
    team.has_queue(queue)
    assert team.create(team.a_gang("gang", 2)).ok
    either = team.a_pod("a-either", 1, f"{T1000}|{T2000}").in_group("gang")
    assert team.create(either).ok
    assert team.create(team.a_pod("b-only", 1, T1000).in_group("gang")).ok
    team.until_bound("a-either", "b-only")
    assert card_of(team, "a-either") == {T2000: 1}
    assert card_of(team, "b-only") == {T1000: 1}
    team.until_row(T1000, allocated=1, inqueue=0)
    team.until_row(T2000, allocated=1, inqueue=0)


def test_t3_never_the_sum_of_two_models(team: Team) -> None:
    """One of each is free; a pod that needs two of one model is refused."""
    team.has_queue({T1000: 1, T2000: 1})
    reply = team.create(team.a_pod("a", 2, f"{T1000}|{T2000}"))
    assert reply.reason == v.Reason.INSUFFICIENT_CARD
    assert team.create(of_a_job(team.a_pod("b", 1, f"{T1000}|{T2000}"))).ok
    assert card_of(team, "b") == {T1000: 1}
