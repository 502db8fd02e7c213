"""T5: card-seconds over a hand-over and a leader that is killed, against the API's own times."""

import os
import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from cardquota.quota.moments import read_moment
from cardquota_dev.testing import Cluster, fresh_namespace, running_plane
from integration.asking import ask
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team, of_a_job

from .outage import replicas
from .running import tracebacks
from .test_failover import leader
from .test_life import LEASE

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

CONFIG = {
    "leaderElection": {"duration": 6, "renewDeadline": 5, "retryPeriod": 0.3, "settle": 0.3},
    "release": {"patchTimeout": 1},
    "cardSecondsRefresh": 10,
}
"""Long enough a term that a busy machine still reads the Lease of the dead one."""


def moment(text: str) -> float:
    """Seconds since 1970."""
    found = read_moment(text)
    assert found is not None, text
    return found / 1000


def team_row(team: Team) -> str:
    labels = f'card="{T1000}",queue="{team.queue_name()}"'
    return f"cardquota_queue_card_seconds_total{{{labels}}}"


class CountedTeam:
    """A queue whose card-seconds are looked at."""

    def __init__(self, team: Team) -> None:
        self.team = team

    def written(self, **numbers: int) -> tuple[int, float]:
        """Seconds, and until when, once the row says these numbers."""
        status: dict[str, Any] = {}

        def shown() -> bool:
            status.update(self.team.status())
            row = self._row(status)
            return "seconds" in row and all(row.get(key) == n for key, n in numbers.items())

        self.team.until(shown, f"{numbers}")
        return self._row(status)["seconds"], moment(status["cardSecondsUntil"])

    def written_after(self, time: float) -> tuple[int, float]:
        """The same, once it is counted until later than a time."""
        self.team.until(lambda: self.written()[1] > time, "written again")
        return self.written()

    @staticmethod
    def _row(status: dict[str, Any]) -> dict[str, Any]:
        rows = status.get("cards", ())
        return next((dict(row) for row in rows if row["name"] == T1000), {})

    def bound_at(self, name: str) -> float:
        conditions = self.team.pod(name)["status"]["conditions"]
        return moment(
            next(c["lastTransitionTime"] for c in conditions if c["type"] == "PodScheduled")
        )

    def exposed(self) -> dict[str, int]:
        """What each replica says of the queue, if it says anything."""
        name = re.escape(team_row(self.team))
        cluster, found = self.team.cluster, {}
        http = cluster.admin.rest_client.pool_manager
        for replica in replicas(cluster):
            text = http.request("GET", f"{replica.address}/metrics").data.decode()
            told = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
            if told:
                found[replica.name] = int(float(told[1]))
        return found


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("seconds")
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(CONFIG))
    with running_plane(folder / "plane", replicas=2, config=config) as cluster:
        add_roomy_nodes(cluster)
        yield cluster


@pytest.fixture
def counted(two: Cluster, unique: str) -> Iterator[CountedTeam]:
    with fresh_namespace(two, unique) as namespace:
        team = Team(two, namespace, unique)
        team.has_queue(team.a_queue({T1000: 8}).with_policy("Gate"))
        yield CountedTeam(team)


def test_it_goes_on_over_a_hand_over_and_a_leader_that_is_killed(
    two: Cluster, counted: CountedTeam
) -> None:
    """What ends while nobody leads counts until the dead one's last renewal."""
    team = counted.team
    team.until_row(T1000, quota=8, seconds=0)
    for name, cards in (("stays", 2), ("ends", 1)):
        assert team.create(of_a_job(team.a_pod(name, cards, T1000))).ok
    team.until_bound("stays", "ends")
    begun, since = counted.written(allocated=3)
    bound = {name: counted.bound_at(name) for name in ("stays", "ends")}

    first = leader(two)
    os.kill(two.state.process(first).pid, signal.SIGTERM)
    team.until(lambda: leader(two) not in ("", first), "another leads")
    second = leader(two)
    handed, handed_at = counted.written_after(since + 10)
    assert handed - begun == pytest.approx(3 * (handed_at - since), abs=2)

    os.kill(two.state.process(second).pid, signal.SIGKILL)
    lease = ask(two, "GET", LEASE).body["spec"]
    assert lease["holderIdentity"].startswith(second), "the machine is too slow for this test"
    assert team.delete(team.a_pod("ends")).ok
    last = max(moment(lease["renewTime"]), counted.written()[1])
    ended, ended_at = counted.written(allocated=2)
    # Two leaders have each begun with whole seconds; a report may be a moment after a renewal.
    assert ended - begun == pytest.approx(2 * (ended_at - since) + (last - since), abs=4)
    # By the pods' own times, which are whole seconds, rounded down.
    assert ended <= 2 * (ended_at - bound["stays"]) + (last - bound["ends"]) + 1

    team.until(lambda: leader(two) not in ("", second), "another leads")
    told = team.until(lambda: len(found := counted.exposed()) == 1 and found, "exposed")
    ((replica, value),) = told.items()
    assert replica == leader(two)
    assert value >= ended
    assert two.folder is not None
    for log in two.folder.path.glob("logs/cardquota-*.log"):
        assert tracebacks(log) == []


def test_a_count_that_is_edited_is_put_right_and_bad_ones_are_refused(counted: CountedTeam) -> None:
    team = counted.team
    assert team.create(of_a_job(team.a_pod("runs", 1, T1000))).ok
    counted.written(allocated=1)
    queue = team.a_queue({})

    def edited(seconds: object, until: str | None = None) -> bool:
        rows = [{**row, "seconds": seconds} for row in team.status()["cards"]]
        change: dict[str, Any] = {"cards": rows}
        if until is not None:
            change["cardSecondsUntil"] = until
        return team.patch(queue, {"status": change}, sub="/status").ok

    assert not edited(-1)
    assert not edited(2**53)
    assert not edited("many")
    assert not edited(5, "yesterday")
    assert edited(10**9, "2222-01-01T00:00:00Z")
    team.until(lambda: counted.written()[0] < 10**6, "put right")
    assert counted.written()[1] < moment("2222-01-01T00:00:00Z")
