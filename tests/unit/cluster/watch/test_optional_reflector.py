"""A kind that is refused, absent or broken holds up nobody. Answers are played from a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any, cast

import pytest

from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.watch import Delivery, OptionalReflector
from cardquota.loop import Backoff
from cardquota.quota.objects import Meta, Wire

NEW, OLD = "/apis/g/v2/things", "/apis/g/v1/things"
ABSENT = ApiError(404, "NotFound", "the server could not find the requested resource")
FORBIDDEN = ApiError(403, "Forbidden", "no rights yet")
BROKEN = ApiError(500, "InternalError", "no")
LOST = OutcomeUnknown("no answer")


class ServedThing(Wire):
    metadata: Meta


class ThingNames:
    """What there is, as far as it was told."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def seen(self, obj: ServedThing) -> None:
        self.names.add(obj.metadata.name)

    def gone(self, namespace: str, name: str, uid: str) -> None:
        self.names.discard(name)

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        raise AssertionError(name)


class CountingBackoff(Backoff):
    """How often somebody was told to wait."""

    asked = 0

    def next(self, retry_after: float | None = None) -> float:
        self.asked += 1
        return super().next(retry_after)


class VersionedServer:
    """Lists hold one thing where `served` has the path, and else fail with the error there."""

    def __init__(self, served: dict[str, Exception | None]) -> None:
        self.served = served
        self.listed: list[str] = []
        self.watching = asyncio.Event()
        self.refused = asyncio.Event()
        """A watch."""
        self.end = asyncio.Event()
        self.version = "6"
        """Of its lists."""
        self.watched: Exception | None = None
        """What every watch fails with, whatever is served."""

    async def get(self, path: str, **_: Any) -> bytes:
        self.listed.append(path)
        if (error := self.served[path]) is not None:
            raise error
        item = {"metadata": {"name": "a", "uid": "a", "resourceVersion": "5"}}
        meta = {"resourceVersion": self.version}
        return json.dumps({"metadata": meta, "items": [item]}).encode()

    @asynccontextmanager
    async def watch(self, path: str, **_: Any) -> AsyncIterator[Any]:
        if (error := self.watched or self.served[path]) is not None:
            self.refused.set()
            raise error
        self.watching.set()
        yield self

    @property
    def content(self) -> "VersionedServer":
        return self

    async def iter_any(self) -> AsyncIterator[bytes]:
        await self.end.wait()
        self.end.clear()
        yield b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}}\n'

    def close(self) -> None:
        self.end.set()


@asynccontextmanager
async def reflecting(
    server: VersionedServer,
    sink: ThingNames,
    *,
    clock: Callable[[], float] = lambda: 0.0,
    list_timeout: float = 0.0,
    ask_again: float = 0.001,
    backoff: Backoff | None = None,
) -> AsyncIterator[OptionalReflector[ServedThing]]:
    reflector: OptionalReflector[ServedThing] = OptionalReflector(
        cast("Client", server),
        paths=(NEW, OLD),
        delivery=Delivery("things", ServedThing, sink),
        clock=clock,
        backoff=backoff or Backoff(0.001, 0.002),
        ask_again=ask_again,
        list_timeout=list_timeout,
    )
    task = asyncio.create_task(reflector.run())
    try:
        await asyncio.wait_for(reflector.wait_synced(), 5)
        yield reflector
    finally:
        assert not task.done()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(server: VersionedServer, times: int) -> None:
    """So many lists more were asked for."""
    wanted = len(server.listed) + times
    async with asyncio.timeout(5):
        while len(server.listed) < wanted:  # noqa: ASYNC110
            await asyncio.sleep(0)


@pytest.mark.parametrize(("error", "level"), [(ABSENT, "INFO"), (FORBIDDEN, "WARNING")])
async def test_without_any_it_is_synced_and_current_and_asked_for_again(
    error: ApiError, level: str, caplog: pytest.LogCaptureFixture
) -> None:
    """An API server that is older than the kind, or an administrator who applies the rights of this
    release later than the operator.
    """
    caplog.set_level("INFO")
    server, sink, now = VersionedServer({NEW: error, OLD: error}), ThingNames(), [0.0]
    async with reflecting(server, sink, clock=lambda: now[0]) as reflector:
        now[0] = 100.0
        assert (reflector.synced, reflector.lag(), reflector.late) == (True, 0.0, False)
        await until(server, 4)
        assert [record.levelname for record in caplog.records] == [level], "told once"
        assert sink.names == set()
        server.served[NEW] = None
        await asyncio.wait_for(server.watching.wait(), 5)
        assert sink.names == {"a"}


async def test_while_it_was_absent_it_was_not_behind() -> None:
    """Its first watch is refused, as for a second after the kind was created."""
    server, sink, now = VersionedServer({NEW: ABSENT, OLD: ABSENT}), ThingNames(), [0.0]
    server.watched = BROKEN
    async with reflecting(server, sink, clock=lambda: now[0]) as reflector:
        now[0] = 10_000.0
        await until(server, 2)
        server.served[NEW] = None
        await asyncio.wait_for(server.refused.wait(), 5)
        assert sink.names == {"a"}
        assert (reflector.lag(), reflector.late) == (0.0, False)
        now[0] += 3.0
        assert (reflector.lag(), reflector.late) == (3.0, True)


@pytest.mark.parametrize("error", [BROKEN, LOST])
async def test_one_that_cannot_be_listed_holds_up_nobody(error: Exception) -> None:
    server, sink = VersionedServer({NEW: error, OLD: ABSENT}), ThingNames()
    async with reflecting(server, sink):
        assert set(server.listed) == {NEW}
        server.served[NEW] = None
        await asyncio.wait_for(server.watching.wait(), 5)
        assert sink.names == {"a"}


@pytest.mark.parametrize("error", [BROKEN, LOST])
async def test_what_may_pass_is_waited_for_a_while(error: Exception) -> None:
    """Who begins without the kind decides as if there was none of it."""
    now, synced = [0.0], list[float]()
    server, sink = VersionedServer({NEW: error, OLD: ABSENT}), ThingNames()

    async def begin() -> None:
        async with reflecting(server, sink, clock=lambda: now[0], list_timeout=10.0):
            synced.append(now[0])

    task = asyncio.create_task(begin())
    await until(server, 3)
    assert synced == []
    now[0] = 10.0
    await asyncio.wait_for(task, 5)
    assert synced == [10.0]


async def test_what_was_taken_away_is_listed_whatever_came_between() -> None:
    server, sink = VersionedServer({NEW: None, OLD: ABSENT}), ThingNames()
    async with reflecting(server, sink):
        server.served[NEW] = FORBIDDEN
        server.end.set()
        await until(server, 3)
        assert sink.names == set()
        server.served[NEW] = LOST
        await until(server, 2)
        server.watching.clear()
        server.served[NEW] = None
        await asyncio.wait_for(server.watching.wait(), 5)
        assert sink.names == {"a"}


async def test_one_that_may_be_listed_and_not_watched_is_no_busy_loop() -> None:
    server, sink = VersionedServer({NEW: None, OLD: ABSENT}), ThingNames()
    backoff = CountingBackoff(0.001, 0.002)
    async with reflecting(server, sink, backoff=backoff):
        server.watched = FORBIDDEN
        server.end.set()
        await until(server, 5)
        assert sink.names == {"a"}
        assert backoff.asked >= 5


@pytest.mark.fake_clock
@pytest.mark.parametrize("error", [ABSENT, FORBIDDEN])
async def test_one_absent_at_first_is_asked_for_again_soon_then_rarely(error: ApiError) -> None:
    """An API server forbids for a second after its start what it allows then."""
    server, sink = VersionedServer({NEW: error, OLD: error}), ThingNames()
    loop = asyncio.get_running_loop()
    tries = [loop.time()]
    async with reflecting(server, sink, ask_again=300.0):
        for _ in range(12):
            await asked_again(server)
            tries.append(loop.time())
    pauses = [later - before for before, later in pairwise(tries)]
    assert pauses[0] <= 1.1
    assert pauses[1] <= 2.1
    assert 150.0 <= max(pauses) <= 300.1


@pytest.mark.fake_clock
async def test_who_must_know_now_has_an_absent_one_asked_for_at_once() -> None:
    server, sink = VersionedServer({NEW: FORBIDDEN, OLD: FORBIDDEN}), ThingNames()
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with reflecting(server, sink, ask_again=300.0) as reflector:
        while loop.time() < begun + 1_000.0:
            await asked_again(server)
        server.served[NEW] = None
        before = loop.time()
        await reflector.passed(6)
        assert loop.time() - before < 1.0
        assert sink.names == {"a"}


@pytest.mark.parametrize("error", [ABSENT, FORBIDDEN])
async def test_what_was_known_stays_while_an_absence_may_pass(error: ApiError) -> None:
    """The API server was started anew, and has not read who may do what."""
    now = [0.0]
    server, sink = VersionedServer({NEW: None, OLD: ABSENT}), ThingNames()
    async with reflecting(server, sink, clock=lambda: now[0], list_timeout=10.0):
        server.served[NEW] = error
        server.end.set()
        await until(server, 4)
        assert sink.names == {"a"}
        now[0] = 10.0
        await until(server, 4)
        assert sink.names == set()


async def test_a_refusal_after_an_outage_is_a_new_one() -> None:
    now = [0.0]
    server, sink = VersionedServer({NEW: None, OLD: ABSENT}), ThingNames()
    async with reflecting(server, sink, clock=lambda: now[0], list_timeout=10.0):
        server.served[NEW] = FORBIDDEN
        server.end.set()
        await until(server, 2)
        server.served[NEW] = LOST
        await until(server, 2)
        now[0] = 60.0
        server.served[NEW] = FORBIDDEN
        await until(server, 4)
        assert sink.names == {"a"}


async def test_one_that_was_absent_must_be_listed_before_anything_has_passed() -> None:
    """What it had passed before does not count: the sink was told that there is nothing."""
    server, sink = VersionedServer({NEW: None, OLD: ABSENT}), ThingNames()
    async with reflecting(server, sink) as reflector:
        assert not reflector.absent
        server.served[NEW] = FORBIDDEN
        server.end.set()
        await until(server, 3)
        assert (sink.names, reflector.absent) == (set(), True)
        passing = asyncio.create_task(reflector.passed(1))
        await until(server, 3)
        assert not passing.done()
        server.served[NEW] = None
        await asyncio.wait_for(passing, 5)
        assert (sink.names, reflector.absent) == ({"a"}, False)


async def asked_again(server: VersionedServer) -> None:
    """By the fake clock, which goes on as soon as nobody has anything to do."""
    wanted = len(server.listed) + 2  # one list of each version
    while len(server.listed) < wanted:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
