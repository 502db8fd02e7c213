"""Which of several cards a pod gets: what all can be given (T3), and what a node has free (E7)."""

import json
from collections.abc import Iterator

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import MERGE, ask
from integration.team import Team, notes
from integration.two_models import TwoModels, two_models


@pytest.fixture
def pools(team: Team) -> Iterator[TwoModels]:
    with two_models(team) as found:
        team.has_queue({found.near: 9, found.far: 9})
        yield found


def card_of(team: Team, name: str) -> dict[str, int]:
    team.until_open(name)
    return dict(json.loads(notes(team.pod(name))[v.ALLOCATED]))


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
