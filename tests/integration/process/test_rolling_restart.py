"""Three replicas with the settings that everybody has: restarted in turn, then one is killed."""

import os
import signal
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import ApiReply
from integration.pod_watch import SeenChange
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, released

from .outage import ready
from .running import tracebacks
from .test_failover import create_twice, leader

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

REPLICAS = 3
DURATION = 12.0
"""Seconds for which the Lease of a leader that died is nobody else's."""
PAUSE = 0.1
"""Seconds between two creates."""


class Stream:
    """Pods that are created one after the other, all with room in the quota."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.replies: list[tuple[ApiReply, bool]] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(30)

    def _run(self) -> None:
        while not self._over.wait(PAUSE):
            pod = self._team.a_pod(f"p{len(self.replies)}", 1, T1000)
            self.replies.append(create_twice(self._team, pod))


def restarted(cluster: Cluster, name: str, number: signal.Signals) -> float:
    """End a replica and wait until the next process of its name is ready; when it was ended."""
    old = cluster.state.process(name)
    ended = time.monotonic()
    os.kill(old.pid, number)
    eventually(lambda: cluster.state.process(name).pid != old.pid, f"{name} again")

    eventually(lambda: ready(cluster, cluster.state.process(name)), f"{name} ready")
    return ended


def test_a_rolling_restart_fails_no_create_and_a_kill_is_made_good(
    tmp_path: Path, unique: str
) -> None:
    """No create is refused; a hand-over waits for no term to run out, as a kill does."""
    with running_plane(tmp_path / "plane", replicas=REPLICAS) as cluster:
        add_roomy_nodes(cluster)
        with fresh_namespace(cluster, unique) as namespace:
            team = Team(cluster, namespace, unique)
            team.has_queue(team.a_queue({T1000: 5_000}).with_policy("Gate"))
            team.until_row(T1000, quota=5_000)
            stream = Stream(team)
            with team.watching() as watch:
                stream.start()
                try:
                    team.until(lambda: any(released(s.object) for s in watch.seen), "opening")
                    for name in [f"cardquota-{number}" for number in range(REPLICAS)]:
                        restarted(cluster, name, signal.SIGTERM)
                    handed_over = len(stream.replies)
                    last = leader(cluster)
                    killed = restarted(cluster, last, signal.SIGKILL)
                    team.until(lambda: leader(cluster) not in ("", last), "another leads")
                    team.until(lambda: opened(watch.seen)[-1] > killed + 5, "gates open again")
                finally:
                    stream.stop()
                total = len(stream.replies)
                team.until(lambda: len(opened(watch.seen)) == total, "all open")
            assert [reply for reply, _ in stream.replies if not reply.ok] == []
            assert not any(again for _, again in stream.replies[:handed_over])
            assert sum(again for _, again in stream.replies) <= 1
            assert worst_pause(opened(watch.seen), until=killed) < DURATION
        assert cluster.folder is not None
        for log in cluster.folder.path.glob("logs/cardquota-*.log"):
            assert tracebacks(log) == []


def opened(seen: list[SeenChange]) -> list[float]:
    """When each pod was first seen released, in order."""
    found: dict[str, float] = {}
    for event in list(seen):
        if released(event.object):
            found.setdefault(event.name, event.at)
    return sorted(found.values())


def worst_pause(times: list[float], until: float = float("inf")) -> float:
    """The longest time between two gates, of those opened until then."""
    early = [at for at in times if at <= until]
    return max(b - a for a, b in pairwise(early))
