"""An event that is renewed: one object for as long as its reason holds (section 9)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.events import EventRecorder, ObjectReference
from cardquota.loop import Backoff

from .test_events import until

pytestmark = pytest.mark.fake_clock

POD = ObjectReference("Pod", "v1", "team", "train-0", "uid-1")


class StoredEvents:
    """What is stored, by name, and the requests that were made."""

    def __init__(self) -> None:
        self.stored: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []
        self.lost_answers = 0
        self.refusal: ApiError | None = None

    async def post(self, path: str, body: Any) -> bytes:
        self.requests.append("POST")
        assert path == "/api/v1/namespaces/team/events"
        if self.refusal is not None:
            raise self.refusal
        name = body["metadata"]["name"]
        if name in self.stored:
            raise ApiError(409, "AlreadyExists", "it is there")
        self.stored[name] = body
        self._answer()
        return b"{}"

    async def patch(self, path: str, body: Any) -> bytes:
        self.requests.append("PATCH")
        name = path.removeprefix("/api/v1/namespaces/team/events/")
        if self.refusal is not None:
            raise self.refusal
        if name not in self.stored:
            raise ApiError(404, "NotFound", "it is not there")
        self.stored[name] = {**self.stored[name], **body}
        self._answer()
        return b"{}"

    def _answer(self) -> None:
        if self.lost_answers:
            self.lost_answers -= 1
            raise OutcomeUnknown("no answer")

    def seen(self, *keys: str) -> list[tuple[Any, ...]]:
        return [tuple(event[key] for key in keys) for event in self.stored.values()]


class Recording:
    def __init__(self, server: StoredEvents) -> None:
        self.now = 0.0
        self.recorder = self.another(server)

    def another(self, server: StoredEvents) -> EventRecorder:
        return EventRecorder(
            cast("Client", server),
            instance="replica-0",
            clock=lambda: 1_700_000_000 + self.now,
            monotonic=lambda: self.now,
            renew_after=1_800.0,
            backoff=lambda: Backoff(0.02, 0.02),
        )

    async def record(self, message: str, *, reason: str = "Full", **more: Any) -> None:
        recorder = self.recorder
        done = recorder.written + recorder.dropped
        recorder.record(
            POD, type="Warning", reason=reason, message=message, **{"renewable": True, **more}
        )
        await until(lambda: recorder.written + recorder.dropped > done)


@pytest.fixture
def server() -> StoredEvents:
    return StoredEvents()


@pytest.fixture
async def recording(server: StoredEvents) -> AsyncIterator[Recording]:
    recording = Recording(server)
    task = asyncio.create_task(recording.recorder.run())
    yield recording
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_told_again_it_has_new_words(recording: Recording, server: StoredEvents) -> None:
    await recording.record("total would be 5")
    recording.now = 1_800.0
    await recording.record("total would be 7", again=True)
    recording.now = 3_600.0
    await recording.record("total would be 6", again=True)
    assert server.seen("message", "count", "firstTimestamp", "lastTimestamp") == [
        ("total would be 6", 3, "2023-11-14T22:13:20Z", "2023-11-14T23:13:20Z")
    ]
    assert server.requests == ["POST", "PATCH", "PATCH"]


async def test_a_deleted_one_is_there_again(recording: Recording, server: StoredEvents) -> None:
    await recording.record("m")
    server.stored.clear()
    recording.now = 1_800.0
    await recording.record("m", again=True)
    assert server.seen("message", "count", "firstTimestamp") == [("m", 1, "2023-11-14T22:43:20Z")]


async def test_the_first_reason_comes_back(recording: Recording, server: StoredEvents) -> None:
    await recording.record("full")
    await recording.record("closed", reason="Closed")
    await recording.record("full again")
    told = [("Full", "full again", 2), ("Closed", "closed", 1)]
    assert server.seen("reason", "message", "count") == told


async def test_a_new_leader_renews_the_last(recording: Recording, server: StoredEvents) -> None:
    await recording.record("m")
    recording.recorder.forget(POD.uid)  # as if it were another process
    await recording.record("n", again=True)
    assert server.seen("message", "count") == [("n", 2)]


async def test_what_others_stored_there_is_ours(recording: Recording, server: StoredEvents) -> None:
    await recording.record("m")
    (name,) = server.stored
    server.stored[name] |= {"type": "Normal", "reason": "Theirs", "source": {}, "message": "x"}
    await recording.record("n", again=True)
    assert server.seen("type", "reason", "message") == [("Warning", "Full", "n")]
    assert server.stored[name]["source"] == {"component": "cardquota", "host": "replica-0"}


async def test_a_lost_answer_makes_no_second(recording: Recording, server: StoredEvents) -> None:
    server.lost_answers = 2
    await recording.record("m")
    assert server.seen("message") == [("m",)]
    assert recording.recorder.written == 1


async def test_what_is_refused_comes_next_turn(recording: Recording, server: StoredEvents) -> None:
    server.refusal = ApiError(403, "Forbidden", "no")
    await recording.record("m")
    await recording.record("m", again=True)
    assert recording.recorder.dropped == 2
    server.refusal = None
    await recording.record("m", again=True)
    assert server.seen("message", "count") == [("m", 1)]


async def test_what_goes_on_is_written_again(recording: Recording, server: StoredEvents) -> None:
    """As of a gate that is tried each minute and never opens."""
    await recording.record("m")
    for minute in range(30):
        recording.now = 60.0 * minute
        recording.recorder.record(POD, type="Warning", reason="Full", message="m", renewable=True)
    assert recording.recorder.waiting == 0
    recording.now = 1_800.0
    await recording.record("m")
    assert server.seen("count") == [(2,)]


async def test_what_is_not_renewable_comes_once(recording: Recording, server: StoredEvents) -> None:
    await recording.record("m", renewable=False)
    recording.now = 10_000.0
    recording.recorder.record(POD, type="Warning", reason="Full", message="m")
    assert recording.recorder.waiting == 0
    await recording.record("m", renewable=False, reason="Other")
    await recording.record("m", renewable=False)
    assert server.seen("reason") == [("Full",), ("Other",), ("Full",)]
