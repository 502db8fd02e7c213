"""V1: each replica tells what it was asked, and the leader alone writes the condition."""

import asyncio
from typing import Any

import pytest

from builders import H200, a_pod, a_queue
from builders.cluster import a_ledger
from cardquota.cluster.events.event import ObjectReference
from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.control.reports.stranger_conditions import StrangerConditions
from cardquota.metrics import Metrics
from cardquota.quota.vocabulary import RefusedWrite
from cardquota.runtime.refused_news import RefusedNews
from cardquota_webhooks.refused.refused_writes import RefusedWrites

BINDING = RefusedWrite.BINDING
POD = a_pod("a").in_queue("red").naming(H200).asking_for(1)


class NoEvents:
    """Writes none."""

    def record(self, *_: Any, **__: Any) -> None: ...


class KeptRefusals:
    """What is to be passed on."""

    def __init__(self) -> None:
        self.kept: list[tuple[RefusedWrite, str, str, str]] = []

    def note(self, *note: Any) -> None:
        self.kept.append(note)


class NewsOfOneReplica:
    def __init__(self, *, port: bool = True) -> None:
        clock = asyncio.get_running_loop().time
        ledger = a_ledger(a_queue("red").with_quota({H200: 3}), POD)
        self.writes = RefusedWrites(NoEvents(), Metrics(), clock)  # type: ignore[arg-type]
        self.conditions = StrangerConditions(ledger, ChangeNotifier(), clock)
        self.passed_on = KeptRefusals()
        self._news = RefusedNews(
            self.writes,
            ledger,
            self.conditions,
            self.passed_on if port else None,  # type: ignore[arg-type]
        )

    def note(self, uid: str = POD.uid, user: str = "u") -> None:
        self._news.note(BINDING, user, ObjectReference("Pod", "v1", "team", "a", uid))


async def test_the_leader_shows_it() -> None:
    replica = NewsOfOneReplica()
    replica.conditions.begin("term")
    replica.note(user="x" * 999)
    (found,) = replica.conditions.of("red").users
    assert (len(found.user), found.pods) == (200, 1)
    assert replica.passed_on.kept == []
    await replica.conditions.end()


@pytest.mark.parametrize("uid", ["", "unknown"])
async def test_without_a_known_pod_there_is_no_queue_to_say_it_of(uid: str) -> None:
    replica = NewsOfOneReplica()
    replica.note(uid)
    assert replica.passed_on.kept == []
    replica.conditions.begin("term")
    replica.note(uid)
    assert replica.conditions.of("red").users == ()
    await replica.conditions.end()
    assert len(replica.writes.faults) == 1


async def test_another_replica_passes_it_on_if_there_is_a_port() -> None:
    replica = NewsOfOneReplica()
    replica.note()
    assert replica.passed_on.kept == [(BINDING, "u", "red", POD.uid)]
    without = NewsOfOneReplica(port=False)
    without.note()
    assert len(without.writes.faults) == 1
