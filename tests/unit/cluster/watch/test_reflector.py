"""What only a badly behaved server sends, played from a script."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import aiohttp
import pytest

from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.watch import Delivery, Reflector
from cardquota.loop import Backoff
from cardquota.quota.objects import Meta, Wire

pytestmark = pytest.mark.fake_clock


class NamedThing(Wire):
    metadata: Meta


def _line(kind: str, name: str, revision: int) -> bytes:
    metadata = {"namespace": "n", "name": name, "uid": name, "resourceVersion": str(revision)}
    return json.dumps({"type": kind, "object": {"metadata": metadata}}).encode() + b"\n"


def _error(code: int) -> bytes:
    return json.dumps({"type": "ERROR", "object": {"code": code, "message": "no"}}).encode() + b"\n"


class Scripted:
    """A client whose lists are empty at the given revisions and whose streams are scripted."""

    def __init__(self, lists: list[int], streams: list[list[bytes] | Exception]) -> None:
        self.lists = lists
        self.streams = streams
        self.watched_from: list[str] = []
        self.over = asyncio.Event()

    async def get(self, path: str, **options: Any) -> bytes:
        revision = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        return json.dumps({"metadata": {"resourceVersion": str(revision)}, "items": None}).encode()

    @asynccontextmanager
    async def watch(self, path: str, *, params: dict[str, str], read_timeout: float) -> Any:
        self.watched_from.append(params["resourceVersion"])
        if not self.streams:
            self.over.set()
            await asyncio.Event().wait()
        script = self.streams.pop(0)
        if isinstance(script, Exception):
            raise script
        yield _Response(script)


class _Response:
    def __init__(self, chunks: list[bytes]) -> None:
        self.content = self
        self._chunks = chunks

    async def iter_any(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    def close(self) -> None:
        pass


class SeenNames:
    def __init__(self) -> None:
        self.seen_names: list[str] = []

    def seen(self, obj: NamedThing) -> None:
        self.seen_names.append(f"{obj.metadata.name}@{obj.metadata.resource_version}")

    def gone(self, namespace: str, name: str, uid: str) -> None:
        self.seen_names.append(f"-{name}")

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        self.seen_names.append(f"?{name}")


class Noted(Backoff):
    """Waits for nothing, and keeps what it would have waited."""

    def __init__(self) -> None:
        super().__init__(1.0, 16.0, random=lambda: 1.0)
        self.delays: list[float] = []

    def next(self, retry_after: float | None = None) -> float:
        self.delays.append(super().next(retry_after))
        return 0.0


def _reflector(client: Scripted, sink: SeenNames, **more: Any) -> Reflector[NamedThing]:
    delivery = Delivery("Thing", NamedThing, sink)
    return Reflector(cast("Client", client), path="/things", delivery=delivery, **more)


async def _play(
    lists: list[int] | Scripted,
    *streams: list[bytes] | Exception,
    backoff: Backoff | None = None,
    **more: Any,
) -> tuple[Reflector[NamedThing], SeenNames, Scripted]:
    client = lists if isinstance(lists, Scripted) else Scripted(lists, list(streams))
    sink = SeenNames()
    reflector = _reflector(client, sink, backoff=backoff or Backoff(0.001, 0.002), **more)
    task = asyncio.create_task(reflector.run())
    await asyncio.wait_for(client.over.wait(), 5)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return reflector, sink, client


class Paged(Scripted):
    """A client whose list has pages of one object, some of which it refuses at first."""

    def __init__(self, pages: int, failures: dict[int, list[Exception]]) -> None:
        super().__init__([5], [])
        self.pages = pages
        self.failures = failures
        self.asked: list[int] = []

    async def get(self, path: str, **options: Any) -> bytes:
        number = int(options["params"].get("continue", 0))
        self.asked.append(number)
        if failures := self.failures.get(number):
            raise failures.pop(0)
        following = str(number + 1) if number + 1 < self.pages else ""
        item = json.loads(_line("", f"p{number}", 5))["object"]
        metadata = {"resourceVersion": "5", "continue": following}
        return json.dumps({"metadata": metadata, "items": [item]}).encode()


class QuietStreams(Scripted):
    """A client whose streams end by themselves after so many seconds, and say nothing."""

    def __init__(self, *lasting: float) -> None:
        super().__init__([5], [[] for _ in lasting])
        self.lasting = list(lasting)
        self.now = 0.0

    @asynccontextmanager
    async def watch(self, path: str, *, params: dict[str, str], read_timeout: float) -> Any:
        async with super().watch(path, params=params, read_timeout=read_timeout) as response:
            self.now += self.lasting.pop(0)
            yield response


@pytest.mark.parametrize(("lasting", "lag"), [((60, 60), 95), ((60, 40), 135), ((60, 0.2), 95.2)])
async def test_a_stream_that_ends_when_it_was_due_had_told_everything(
    lasting: tuple[float, ...], lag: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a bookmark too: a kind that nobody ever changes may get none. So the view is behind
    since that end; after a stream that broke, since the last one told something.
    """
    monkeypatch.setattr("random.random", lambda: 0.5)
    client = QuietStreams(*lasting)
    reflector, _, _ = await _play(client, clock=lambda: client.now)
    assert reflector.lag() == 0.0
    client.now += 95
    assert reflector.lag() == pytest.approx(lag)


async def test_what_is_known_is_old_two_seconds_after_the_last_stream() -> None:
    """The next one is asked for, and never answered."""
    client = QuietStreams(60)
    reflector, _, _ = await _play(client, clock=lambda: client.now)
    client.now += 2.0
    assert (reflector.late, reflector.lag()) == (False, 0.0)
    client.now += 0.1
    assert reflector.late
    assert reflector.lag() == pytest.approx(2.1), "since the stream ended"


def test_before_the_first_list_it_is_behind_since_the_start() -> None:
    now = [100.0]
    reflector = _reflector(Scripted([5], []), SeenNames(), clock=lambda: now[0])
    now[0] += 0.5
    assert (reflector.late, reflector.lag()) == (True, 0.5)


async def test_a_stream_that_is_open_may_be_silent_for_a_while() -> None:
    now, client = [0.0], Scripted([5], [])
    looked = []

    class SilentResponse(_Response):
        async def iter_any(self) -> AsyncIterator[bytes]:
            for now[0] in (80.0, 91.0):
                looked.append((reflector.late, reflector.lag()))
            client.over.set()
            await asyncio.Event().wait()
            yield b""

    @asynccontextmanager
    async def watch(*_: object, **__: object) -> AsyncIterator[_Response]:
        yield SilentResponse([])

    vars(client)["watch"] = watch
    reflector = _reflector(client, SeenNames(), clock=lambda: now[0])
    task = asyncio.create_task(reflector.run())
    await asyncio.wait_for(client.over.wait(), 5)
    task.cancel()
    assert looked == [(False, 0.0), (True, 91.0)]


BUSY = ApiError(429, "TooManyRequests", "later")
LOST = OutcomeUnknown("no answer")
EXPIRED = ApiError(410, "Expired", "the token is too old")


@pytest.mark.parametrize(
    ("failures", "asked"),
    [
        ({1: [BUSY, LOST], 2: [BUSY]}, [0, 1, 1, 1, 2, 2]),
        ({0: [BUSY]}, [0, 0, 1, 2]),
        ({1: [EXPIRED]}, [0, 1, 0, 1, 2]),
        ({2: [BUSY] * 6}, [0, 1, *[2] * 6, 0, 1, 2]),
    ],
    ids=["pages busy for a moment", "the first", "a token that expired", "busy for long"],
)
async def test_a_busy_server_is_asked_for_the_page_and_not_for_the_list(
    failures: dict[int, list[Exception]], asked: list[int]
) -> None:
    client = Paged(3, failures)
    _, sink, _ = await _play(client)
    assert client.asked == asked
    assert set(sink.seen_names) == {"p0@5", "p1@5", "p2@5"}


@pytest.mark.parametrize(
    "broken",
    [
        [_error(410)],
        [b"nonsense\n"],
        [b'{"type":"NEW","object":{}}\n'],
        [b'{"type":"DELETED","object":7}\n'],
        ApiError(410, "Expired", "too old"),
        ApiError(400, "BadRequest", "no such revision"),
    ],
)
async def test_what_leads_to_a_new_list(broken: list[bytes] | Exception) -> None:
    reflector, sink, client = await _play([5, 9], [_line("ADDED", "a", 6)], broken)
    assert reflector.relists == 1
    assert sink.seen_names == ["a@6", "-a"]
    assert client.watched_from == ["5", "6", "9"]


@pytest.mark.parametrize(
    "passing",
    [
        [_error(500)],
        [],
        OutcomeUnknown("lost"),
        TimeoutError(),
        ApiError(429, "TooManyRequests", "later", retry_after=0.001),
        ApiError(403, "Forbidden", "not yet"),
    ],
)
async def test_what_is_only_a_pause(passing: list[bytes] | Exception) -> None:
    reflector, _, client = await _play([5], [_line("ADDED", "a", 6)], passing, [])
    assert reflector.relists == 0
    assert client.watched_from == ["5", "6", "6", "6"]


async def test_a_stream_that_fails_twice_at_one_revision_leads_to_a_new_list() -> None:
    reflector, sink, client = await _play(
        [5, 9], [_line("ADDED", "a", 6)], [_error(500)], [_error(500)], [_line("ADDED", "b", 10)]
    )
    assert reflector.relists == 1
    assert client.watched_from == ["5", "6", "6", "9", "10"]
    assert sink.seen_names == ["a@6", "-a", "b@10"]


async def test_a_stream_that_fails_but_goes_on_is_no_reason_to_list() -> None:
    streams = [[_line("ADDED", "a", revision) + _error(500)] for revision in range(6, 10)]
    reflector, _, client = await _play([5], *streams)
    assert reflector.relists == 0
    assert client.watched_from == ["5", "6", "7", "8", "9"]


@pytest.mark.parametrize("code", [429, 503, 504])
async def test_an_overloaded_server_is_not_asked_for_a_list(code: int) -> None:
    reflector, _, client = await _play([5], *[[_error(code)]] * 4)
    assert reflector.relists == 0
    assert client.watched_from == ["5"] * 5


async def test_synced_is_who_listed_and_is_told_what_comes() -> None:
    refused = ApiError(429, "TooManyRequests", "storage is (re)initializing")
    reflector, _, _ = await _play([5], refused, refused)
    assert not reflector.synced
    reflector, _, _ = await _play([5], refused, [])
    assert reflector.synced
    assert reflector.relists == 0
    await asyncio.wait_for(reflector.wait_synced(), 1)


async def test_lists_that_do_not_help_become_rare() -> None:
    """One for two waits, and the waits grow although every list succeeds."""
    backoff = Noted()
    bookmark = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}\n'
    reflector, _, _ = await _play([5], *[[bookmark, _error(500)]] * 8, backoff=backoff)
    assert reflector.relists == 4
    assert backoff.delays == [1, 2, 4, 8, 16, 16, 16, 16]


async def test_progress_makes_the_waits_short_again() -> None:
    backoff = Noted()
    streams = [[_error(500)], [_error(500)], [_line("ADDED", "a", 6), _error(500)], [_error(500)]]
    await _play([5, 5, 6], *streams, backoff=backoff)
    assert backoff.delays == [1, 2, 1, 2]


async def test_after_an_outage_it_lists_as_soon_as_it_is_told_to() -> None:
    backoff = Noted()
    gone = ApiError(410, "Expired", "too old")
    outage = [*[aiohttp.ClientConnectionError("refused")] * 4, gone, gone, gone]
    streams: list[list[bytes] | Exception] = [[_line("ADDED", "a", 6)], *outage]
    reflector, _, _ = await _play([5, 9], *streams, backoff=backoff)
    assert backoff.delays == [1, 2, 4, 8, 1, 2, 4]
    assert reflector.relists == 3


async def test_to_be_answered_late_is_no_stream_that_lasted() -> None:
    now, backoff = [0.0], Noted()

    class Slow(Scripted):
        @asynccontextmanager
        async def watch(self, path: str, *, params: dict[str, str], read_timeout: float) -> Any:
            async with super().watch(path, params=params, read_timeout=read_timeout) as response:
                now[0] += 1.2
                yield response

    client = Slow([5], [[_error(410)] for _ in range(5)])
    reflector, _, _ = await _play(client, backoff=backoff, clock=lambda: now[0])
    assert backoff.delays == [1, 2, 4, 8, 16]
    assert reflector.relists == 5


async def test_a_list_from_the_past_is_refused() -> None:
    reflector, sink, client = await _play([5, 3, 0, 8], [_line("ADDED", "a", 6)], [_error(410)])
    assert sink.seen_names == ["a@6", "-a"]
    assert client.watched_from == ["5", "6", "8"]
    assert reflector.revision == 8


@pytest.mark.parametrize("options", [{"page_size": 0}, {"watch_seconds": 60, "stall_timeout": 70}])
def test_arguments_are_checked(options: dict[str, Any]) -> None:
    delivery = Delivery("T", NamedThing, SeenNames())
    with pytest.raises(ValueError, match="must"):
        Reflector(cast("Client", None), path="/", delivery=delivery, **options)
