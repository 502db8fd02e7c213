"""I4 on a real API server: the head of a queue is told again, and others of another reason."""

from pathlib import Path

import pytest

from builders import GPU, a_node
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, fresh_namespace
from integration.asking import Object, ask
from integration.own_node import a_node_of
from integration.team import Team, of_a_job

from .running import QUICK, install_base, running, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]

SETTINGS = {**QUICK, "events": {"renewAfter": 1}}
SHORT = v.Reason.INSUFFICIENT_CARD


def test_the_head_is_told_again_in_the_words_of_now_and_others_of_another_reason(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    install_base(bare)
    with fresh_namespace(bare, unique) as namespace:
        team, card = Team(bare, namespace, unique), f"{unique}-card"
        with (
            a_node_of(team, a_node(f"{unique}-node").with_cards(card, "4")),
            running(bare, tmp_path / "operator", SETTINGS) as operator,
        ):
            team.has_queue({card: 4})
            team.until_row(card, quota=4, resource=GPU)
            assert team.create(of_a_job(team.a_pod("holder", 2, card))).ok
            team.until_open("holder")
            alone = of_a_job(team.a_pod("alone", 3, card))
            assert team.create(alone).ok
            assert team.create(team.a_gang("gang", 2)).ok
            for name in ("gang-0", "gang-1"):
                assert team.create(team.a_pod(name, 2, card).in_group("gang")).ok
            team.until_told("gang", SHORT)
            comes_back(team, "alone")
            until_it_says(team, "alone", "capability is <4>; wait until some of it is free")
            team.set_quota({card: 2})
            until_it_says(team, "alone", "capability is <2>; ask for at most 2")
            assert "capability is <4>" in told(team, "gang")["message"]
            team.delete(alone)
            until_it_says(team, "gang", "capability is <2>; ask for at most 2")
        assert tracebacks(operator.log) == []


def comes_back(team: Team, name: str) -> None:
    """It is renewed, and if somebody deletes it there is another one."""
    first = team.until_told(name, SHORT)
    team.until(lambda: told(team, name)["count"] > first["count"], f"{name} is told again")
    assert told(team, name)["metadata"]["uid"] == first["metadata"]["uid"]
    path = f"/api/v1/namespaces/{team.namespace}/events/{first['metadata']['name']}"
    assert ask(team.cluster, "DELETE", path).ok
    uid = first["metadata"]["uid"]
    team.until(lambda: team.events(name) and told(team, name)["metadata"]["uid"] != uid, name)


def until_it_says(team: Team, name: str, words: str) -> None:
    team.until(lambda: words in told(team, name)["message"], f"{name}: {words}")


def told(team: Team, name: str) -> Object:
    """Its only event."""
    (event,) = team.events(name)
    return event
