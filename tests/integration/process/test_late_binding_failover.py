"""The leader is killed while pods get their cards: each has one, no quota is exceeded."""

import json
import os
import signal
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from builders import a_node
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually, fresh_namespace, running_plane
from integration.asking import Object
from integration.extender.shared_cards import leader_of
from integration.own_node import a_node_of
from integration.team import Team, notes

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]
EACH = 20
"""Cards of each model in the quota. The nodes have more: only the quota keeps pods from them."""
NEAR, FAR = "near-model", "far-model"


def test_e3_the_leader_is_killed(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("extender: {enabled: true, lateBinding: true}")
    with (
        running_plane(tmp_path / "plane", replicas=2, extender=True, config=config) as plane,
        fresh_namespace(plane, "killed") as namespace,
        ExitStack() as nodes,
    ):
        team = Team(plane, namespace, "killed")
        for card in (NEAR, FAR):
            node = a_node(card).showing(card).offering(2 * EACH).offering("100", "pods")
            nodes.enter_context(a_node_of(team, node))
        team.has_queue({NEAR: EACH, FAR: EACH})
        names = [f"p{number}" for number in range(2 * EACH)]
        for number, name in enumerate(names):
            create(team, name)
            if number == EACH:
                team.until_bound("p0")
                process = plane.state.process(f"cardquota-{leader_of(plane)}")
                os.kill(process.pid, signal.SIGKILL)
        most = Counter[str]()

        def all_bound() -> bool:
            pods = [pod for pod in team.pods() if pod["spec"].get("nodeName")]
            held = Counter(pod["spec"]["nodeName"] for pod in pods)
            most.update({node: n - most[node] for node, n in held.items() if n > most[node]})
            return len(pods) == len(names)

        eventually(all_bound, "all are bound", 180)
        assert most == {NEAR: EACH, FAR: EACH}
        pods = [team.pod(name) for name in names]
        assert all(card_of(pod) == {pod["spec"]["nodeName"]: 1} for pod in pods)
        assert len({notes(pod)[v.TERM] for pod in pods}) > 1, "the next leader bound none"
        for card in (NEAR, FAR):
            team.until_row(card, allocated=EACH, inqueue=0)


def create(team: Team, name: str) -> None:
    """As a controller does: what broke on its way through the dead replica is tried again."""

    def created() -> bool:
        reply = team.create(team.a_pod(name, 1, f"{NEAR}|{FAR}"))
        assert reply.ok or "failed to call webhook" in reply.message, reply.message
        return reply.ok

    eventually(created, f"{name} is created")


def card_of(pod: Object) -> dict[str, int]:
    return dict(json.loads(notes(pod)[v.ALLOCATED]))
