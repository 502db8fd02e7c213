"""Section 9 on a real API server: who waits for long has an event, and it says what holds."""

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

SETTINGS = {
    **QUICK,
    "events": {"renewAfter": 1, "renewalsPerSecond": 50},
    "release": {**QUICK["release"], "groupRefreshesPerSecond": 20},
}
SHORT = v.Reason.INSUFFICIENT_CARD


def test_an_event_comes_back_and_says_that_the_quota_was_lowered(
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
            assert team.create(of_a_job(team.a_pod("alone", 3, card))).ok
            gang = team.a_gang("gang", 2)
            assert team.create(gang).ok
            for name in ("gang-0", "gang-1"):
                assert team.create(team.a_pod(name, 2, card).in_group("gang")).ok
            comes_back(team, "alone")
            comes_back(team, "gang")
            until_it_says(team, "alone", "capability is <4>; wait until some of it is free")
            until_it_says(team, "alone", "; wait until some of it is free")
            team.set_quota({card: 2})
            until_it_says(team, "alone", "capability is <2>; ask for at most 2")
            for name in ("gang-0", "gang-1", "gang"):
                until_it_says(team, name, "capability is <2>; ask for at most 2")

            def condition() -> str:
                (found,) = team.get(gang)["status"]["conditions"]
                return str(found["message"])

            team.until(lambda: "capability is <2>; ask for at most 2" in condition(), "condition")
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
