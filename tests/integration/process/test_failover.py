"""Two replicas behind a balancer: one dies, nobody notices."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from builders.pod import PodBody
from cardquota_dev.testing import Cluster, fresh_namespace, running_plane
from integration.asking import ApiReply
from integration.release.test_burst import most_at_once
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, released

from .running import QUICK, tracebacks
from .test_life import holder

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

CLIENTS = 4


def leader(cluster: Cluster) -> str:
    """The name of the replica that leads."""
    return holder(cluster).rpartition("_")[0]


def create_twice(team: Team, pod: PodBody) -> tuple[ApiReply, bool]:
    """As a controller does: what broke on the way is tried again. Whether that was needed."""
    reply = team.create(pod)
    if reply.code == 500 and "failed to call webhook" in reply.message:
        return team.create(pod), True
    return reply, False


def test_the_leader_is_killed_in_a_burst(tmp_path: Path, unique: str) -> None:
    """I1: nothing is over quota, and the other goes on where the first stopped.

    Only what the dead one was just being asked breaks: at most one review per client.
    """
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(QUICK))
    with running_plane(tmp_path / "plane", replicas=2, config=config) as cluster:
        add_roomy_nodes(cluster)
        with fresh_namespace(cluster, unique) as namespace:
            team = Team(cluster, namespace, unique)
            team.has_queue(team.a_queue({T1000: 20}).with_policy("Gate"))
            team.until_row(T1000, quota=20)
            first = leader(cluster)
            assert first.startswith("cardquota-")
            pods = [team.a_pod(f"p{number}", 1, T1000) for number in range(60)]
            with team.watching() as watch, ThreadPoolExecutor(CLIENTS) as pool:
                replies = [pool.submit(create_twice, team, pod) for pod in pods]
                team.until(lambda: sum(r.done() for r in replies) >= 10, "some created")
                os.kill(cluster.state.process(first).pid, signal.SIGKILL)
                answers = [r.result() for r in replies]
                assert [reply for reply, _ in answers if not reply.ok] == []
                assert sum(again for _, again in answers) <= CLIENTS
                team.until(lambda: leader(cluster) not in ("", first), "another leads", 60)
                team.until(lambda: sum(released(pod) for pod in team.pods()) == 20, "20 open", 60)
                team.until(lambda: team.row(T1000).get("allocated") == 20, "20 bound", 60)
                assert most_at_once(watch.caught_up()) == 20
                team.set_quota({T1000: 60})
                team.until(lambda: team.row(T1000).get("allocated") == 60, "all bound", 60)
        assert cluster.folder is not None
        for log in cluster.folder.path.glob("logs/cardquota-*.log"):
            assert tracebacks(log) == []
