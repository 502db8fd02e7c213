"""L5: whoever leads, and whenever he stops: what stands on who waits is done once."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually, fresh_namespace, running_plane
from conftest import decides
from integration.asking import Object
from integration.pod_watch import SeenChange
from integration.process.test_failover import create_twice, leader
from integration.team import Team, bugs_logged, released

from .lent import BORROWER, CONFIG, OWNER, Lent, ends

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

ONE_AT_A_TIME = {**CONFIG["reclaim"], "evictionsPerQueue": 1}


@pytest.fixture
def lent(tmp_path: Path, unique: str) -> Iterator[Lent]:
    """Of three replicas, each of which ends one pod of a queue in a minute."""
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({**CONFIG, "reclaim": ONE_AT_A_TIME}))
    with running_plane(tmp_path / "plane", replicas=3, config=config) as cluster:
        cluster.warm()
        eventually(lambda: decides(cluster), "a leader that decides")
        with fresh_namespace(cluster, unique) as namespace:
            found = Lent(Team(cluster, namespace, unique), f"NVIDIA-{unique.upper()}")
            found.prepare()
            yield found
        assert bugs_logged(cluster) == []


def kill_leader(lent: Lent) -> None:
    """Nobody starts it anew."""
    cluster = lent.team.cluster
    first = leader(cluster)
    os.kill(cluster.state.process(first).pid, signal.SIGKILL)
    lent.team.until(lambda: leader(cluster) not in ("", first), "another leads")


def has_plan(lent: Lent, pod: Object) -> bool:
    return lent.plan_of(pod) is not None


def is_bound(change: SeenChange) -> bool:
    return bool(change.name == "owed" and change.object["spec"].get("nodeName"))


def test_killed_once_it_has_written_what_ends(lent: Lent) -> None:
    """And again once the first of two has been asked to: the budget keeps the other for a while."""
    team = lent.team
    lent.runs("r0", "r1", "r2", "r3")
    with team.watching() as watch:
        assert team.create(lent.pod("owed", OWNER, cards=2)).ok
        written = watch.first(lambda one: has_plan(lent, one.object), "what ends is written")
        kill_leader(lent)
        assert create_twice(team, lent.pod("late", BORROWER))[0].ok
        watch.first(lambda one: ends(one.object), "the first one ends")
        kill_leader(lent)
        watch.first(is_bound, "it has started")
        seen = list(watch.seen)
    plan = lent.plan_of(written.object)
    assert plan is not None
    ended = {one.object["metadata"]["uid"] for one in seen if ends(one.object)}
    assert ended == set(plan.victims)
    plans = {lent.plan_of(one.object) for one in seen if one.name == "owed"}
    assert plans == {None, plan}
    # The room was not taken back by the queue that gave it.
    opened = [one for one in seen if one.name == "late" and released(one.object)]
    assert not opened


def test_killed_while_those_that_end_take_their_time(lent: Lent) -> None:
    team = lent.team
    lent.runs("r0", "r1", "r2", "r3", stop=15)
    with team.watching() as watch:
        assert team.create(lent.pod("owed", OWNER)).ok
        watch.first(lambda one: ends(one.object), "one ends")
        kill_leader(lent)
        assert create_twice(team, lent.pod("late", BORROWER))[0].ok
        watch.first(is_bound, "it has started")
        seen = list(watch.seen)
    assert len({one.name for one in seen if ends(one.object)}) == 1
    assert not [one for one in seen if one.name == "late" and released(one.object)]
    assert team.until_told("owed", v.ROOM_MADE)
