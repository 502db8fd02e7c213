"""P8: what was left out for its size is read from the API server once there is room."""

import asyncio
import json
from typing import Any

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue, see
from builders.body import Body
from cardquota.cluster.api import ApiError, OutcomeUnknown
from cardquota.cluster.watch import ChangeNotifier, LeftOutReads, watched_kinds
from cardquota.quota.ledger import Ledger, ledger_reader

POD = a_pod("p").in_queue("red").asking_for(1).gated()
FIRST = POD.put("first", "metadata", "name").with_uid("first")
GROUP = a_group("train").in_queue("red").of(2)
PATHS = {
    "/api/v1/namespaces/team/pods/p": POD,
    "/apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups/train": GROUP,
}


class Stored:
    """An API server that has these."""

    def __init__(self, ledger: Ledger, found: dict[str, Body | Exception | bytes]) -> None:
        self.found = found
        self.asked = list[str]()
        self.meanwhile: Any = lambda: None
        client: Any = self
        kinds = watched_kinds(ledger, ChangeNotifier())
        self.reads = LeftOutReads(ledger, client, kinds)

    async def get(self, path: str, **_: object) -> bytes:
        self.asked.append(path)
        self.meanwhile()
        found = self.found[path]
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, bytes) else json.dumps(found.body).encode()


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Room for one pod and one group, which others have."""
    for name, most in (("WAITING_PODS", 3_000), ("IDLE_GROUPS", 4_000)):
        limit = getattr(ledger_reader, name)._replace(most=most)
        monkeypatch.setattr(ledger_reader, name, limit)
    red = a_queue("red").with_quota({H200: 4})
    return a_ledger(*CARDS, red, FIRST, a_group("first").of(2), POD, GROUP)


async def test_each_is_read_once_there_is_room(ledger: Ledger) -> None:
    api = Stored(ledger, {**PATHS})
    await api.reads.read_some()
    assert api.asked == []
    ledger.pod_gone("first")
    ledger.group_gone("team/first")
    await api.reads.read_some()
    assert api.asked == [*reversed(PATHS)]
    assert POD.uid in ledger.pods
    assert ledger.groups["team/train"].minimum == 2
    await api.reads.read_some()
    assert len(api.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        ApiError(404, "NotFound", "gone"),
        OutcomeUnknown("no answer"),
        b"{",
        POD.with_uid("another of that name"),
    ],
)
async def test_what_cannot_be_read_is_tried_again(ledger: Ledger, answer: Any) -> None:
    api = Stored(ledger, {"/api/v1/namespaces/team/pods/p": answer})
    ledger.pod_gone("first")
    for _ in range(2):
        await api.reads.read_some()
        assert POD.uid not in ledger.pods
    assert len(api.asked) == 2
    api.found = {**PATHS}
    await api.reads.read_some()
    assert POD.uid in ledger.pods


async def test_what_is_deleted_meanwhile_does_not_come_back(ledger: Ledger) -> None:
    api = Stored(ledger, {**PATHS})
    ledger.pod_gone("first")
    api.meanwhile = lambda: ledger.pod_gone(POD.uid)
    await api.reads.read_some()
    assert POD.uid not in ledger.pods
    assert ledger.kept_pods.number_left_out == 0


async def test_what_the_watch_has_shown_newer_meanwhile_stays(ledger: Ledger) -> None:
    api = Stored(ledger, {**PATHS})
    ledger.pod_gone("first")
    bound = POD.ungated().stamped("red", {H200: 1}).at_revision(9)
    api.meanwhile = lambda: see(ledger, bound)
    await api.reads.read_some()
    assert ledger.pods[POD.uid].facts.revision == 9


@pytest.mark.fake_clock
async def test_it_looks_by_itself(ledger: Ledger) -> None:
    api = Stored(ledger, {**PATHS})
    running = asyncio.create_task(api.reads.run())
    ledger.pod_gone("first")
    await asyncio.sleep(5)
    assert POD.uid in ledger.pods
    running.cancel()
