"""Namespaces whose events fail, against a server that fails as it is told."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from cardquota.cluster import events
from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.events import EventRecorder, ObjectReference
from cardquota.loop import Backoff

pytestmark = pytest.mark.fake_clock

QUEUE_SIZE = 40


class EventServer:
    """Takes all events but those of the namespaces that it is told to refuse, or not to answer."""

    def __init__(self) -> None:
        self.refused: dict[str, Exception] = {}
        self.silent: set[str] = set()
        self.taken: list[tuple[str, str]] = []
        self.tries: Counter[str] = Counter()
        self.at_once: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()

    async def post(self, path: str, body: Any) -> bytes:
        namespace = path.split("/")[4]
        self.tries[namespace] += 1
        for key in ("all", namespace):
            self.at_once[key] += 1
            self.most_at_once[key] = max(self.most_at_once[key], self.at_once[key])
        try:
            await asyncio.sleep(0)
            if namespace in self.silent:
                await asyncio.Event().wait()
            if namespace in self.refused:
                raise self.refused[namespace]
            self.taken.append((namespace, body["involvedObject"]["name"]))
            return b"{}"
        finally:
            for key in ("all", namespace):
                self.at_once[key] -= 1

    def names(self, namespace: str) -> list[str]:
        return [name for where, name in self.taken if where == namespace]


@pytest.fixture
def server() -> EventServer:
    return EventServer()


@pytest.fixture
async def recorder(server: EventServer) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(
        cast("Client", server),
        instance="replica-0",
        queue_size=QUEUE_SIZE,
        backoff=lambda: Backoff(0.02, 0.02),
        monotonic=asyncio.get_running_loop().time,
    )
    task = asyncio.create_task(recorder.run())
    yield recorder
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def record(recorder: EventRecorder, namespace: str, *names: str) -> None:
    for name in names:
        ref = ObjectReference("Pod", "v1", namespace, name, f"{namespace}/{name}")
        recorder.record(ref, type="Warning", reason="R", message="m")


async def until(condition: Callable[[], object]) -> None:
    deadline = asyncio.get_running_loop().time() + 2
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "not in time"
        await asyncio.sleep(0.001)


LIMITED = ApiError(429, "TooManyRequests", "limit reached on type Namespace for key bad")


@pytest.mark.parametrize("failure", [LIMITED, OutcomeUnknown("no answer"), None])
async def test_a_namespace_whose_events_fail_holds_up_no_other(
    recorder: EventRecorder, server: EventServer, failure: Exception | None
) -> None:
    if failure is None:
        server.silent.add("bad")
    else:
        server.refused["bad"] = failure
    record(recorder, "bad", *"abcdefghij")
    record(recorder, "good", *"abc")
    await until(lambda: server.names("good") == ["a", "b", "c"])
    assert server.tries["bad"] == 1
    record(recorder, "good", "d")
    await until(lambda: server.names("good")[3:])


async def test_an_event_is_tried_five_times(recorder: EventRecorder, server: EventServer) -> None:
    server.refused["bad"] = LIMITED
    record(recorder, "bad", "a", "b")
    await until(lambda: recorder.dropped == 2)
    assert server.tries["bad"] == 10
    del server.refused["bad"]
    record(recorder, "bad", "c")
    await until(lambda: server.names("bad") == ["c"])


async def test_each_in_order_many_at_once(recorder: EventRecorder, server: EventServer) -> None:
    namespaces = [f"n{number}" for number in range(10)]
    for name in "abcd":
        for namespace in namespaces:
            record(recorder, namespace, name)
    await until(lambda: recorder.written == 40)
    assert all(server.names(namespace) == list("abcd") for namespace in namespaces)
    assert {server.most_at_once[namespace] for namespace in namespaces} == {1}
    assert 1 < server.most_at_once["all"] <= 8


async def test_a_full_one_drops_what_fails(recorder: EventRecorder, server: EventServer) -> None:
    server.silent.add("good")
    record(recorder, "good", "in hand", *"abc")
    server.refused["bad"] = LIMITED
    record(recorder, "bad", "in hand")
    await until(lambda: server.tries["bad"] > 1 and server.tries["good"])
    record(recorder, "bad", *map(str, range(QUEUE_SIZE - 3)))
    record(recorder, "good", *"defgh")
    assert recorder.dropped == 5
    assert recorder.waiting == QUEUE_SIZE
    del server.refused["bad"]
    await until(lambda: len(server.names("bad")) == 1 + QUEUE_SIZE - 8)
    assert recorder.waiting == 8  # of the other, all that were recorded


async def test_they_give_way_to_urgent_calls(recorder: EventRecorder, server: EventServer) -> None:
    recorder.give_way()
    record(recorder, "team", "a", "b")
    for _ in range(20):  # more turns of the loop than an event takes that gives way to nothing
        await asyncio.sleep(0)
    assert server.taken == []
    recorder.go_on()
    await until(lambda: server.names("team") == ["a", "b"])


async def test_but_not_for_longer_than_two_seconds(
    recorder: EventRecorder, server: EventServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many gates are opened one after the other."""
    monkeypatch.setattr(events, "GIVES_WAY", 0.0625)
    recorder.give_way()
    record(recorder, "team", "a", "b")
    await until(lambda: server.names("team") == ["a", "b"])
