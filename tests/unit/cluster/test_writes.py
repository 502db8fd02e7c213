"""What bounds the requests of a term, and what is done when one is refused for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cardquota.cluster.api import Access, ApiError, Client, OutcomeUnknown
from cardquota.cluster.writes import FencedWriter, TooLateError, refused_for_term

from ..control.fakes import Script, a_writer, until


async def test_reads_take_their_turn_with_patches() -> None:
    """Reads without a bound would take all connections there are."""
    script = Script()
    script.hold = asyncio.Event()
    writer = a_writer(script, at_a_time=3)
    calls = [writer.get(f"/{n}") if n % 2 else writer.patch(f"/{n}", {}) for n in range(10)]
    tasks = [asyncio.create_task(call) for call in calls]
    await until(lambda: script.in_flight == 3)
    await asyncio.sleep(0.01)
    assert script.most_in_flight == 3
    script.hold.set()
    await asyncio.gather(*tasks)
    assert len(script.calls) == 10
    assert script.most_in_flight == 3


async def test_nothing_is_sent_too_near_to_the_deadline() -> None:
    script = Script()
    writer = a_writer(script, left=lambda: 2.4)
    assert not writer.in_time()
    with pytest.raises(TooLateError):
        await writer.patch("/", {})
    assert script.calls == []


@pytest.mark.parametrize("needs", [0.05, 60.0])
async def test_a_patch_whose_credentials_come_late_is_sent_in_time_or_never(needs: float) -> None:
    """A plugin of a kubeconfig may take its time; the deadline was looked at before."""
    sent: list[float] = []
    loop = asyncio.get_running_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        sent.append(loop.time())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async def plugin() -> str:
        await asyncio.sleep(needs)
        return "Bearer x"

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = Client(Access(f"http://127.0.0.1:{port}", None, plugin))
        timeout = 30.0 if needs < 1 else 0.2
        deadline = loop.time() + 4 * timeout
        writer = FencedWriter(client, lambda: deadline - loop.time(), timeout=timeout, at_a_time=1)
        if needs < 1:
            await writer.patch("/", {})
            assert sent[0] < deadline
        else:
            with pytest.raises(OutcomeUnknown, match="no credentials"):
                await writer.patch("/", {})
            assert loop.time() < deadline
            assert sent == []
        await client.close()


BY = (
    "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'cardquota-{0}' with binding "
    "'cardquota-{0}' denied request: "
)


class RefusingServer:
    """Refuses everything, in the words of one policy."""

    def __init__(self, policy: str) -> None:
        self.error = ApiError(403, "Forbidden", BY.format(policy))
        self.params: list[dict[str, str]] = []

    async def patch(self, _: str, __: object, *, params: dict[str, str], **___: Any) -> bytes:
        self.params.append(params)
        raise self.error

    async def post(self, path: str, body: object, *, params: dict[str, str], **_: Any) -> bytes:
        return await self.patch(path, body, params=params)


class NotingGuard:
    closed = False

    def __init__(self) -> None:
        self.repeats: list[Callable[[], Awaitable[object]]] = []

    def refused(self, repeat: Callable[[], Awaitable[object]]) -> None:
        self.repeats.append(repeat)


def a_guarded_writer(server: RefusingServer, guard: NotingGuard | None) -> FencedWriter:
    return FencedWriter(
        server,  # type: ignore[arg-type]
        lambda: 60.0,
        timeout=1.0,
        at_a_time=1,
        guard=guard,
    )


@pytest.mark.parametrize("policy", ["gate-term", "reservation-term", "binding-term"])
async def test_the_guard_is_told_and_can_send_it_again_as_a_dry_run(policy: str) -> None:
    server, guard = RefusingServer(policy), NotingGuard()
    writer = a_guarded_writer(server, guard)
    for send in (writer.patch, writer.post):
        with pytest.raises(TooLateError):
            await send("/", {})
        with pytest.raises(ApiError):
            await guard.repeats.pop()()
        assert ["dryRun" in params for params in server.params] == [False, True]
        server.params.clear()
    guard.closed = True
    assert writer.closed
    for send in (writer.patch, writer.post):
        with pytest.raises(TooLateError, match="refused"):
            await send("/", {})
    assert server.params == []


@pytest.mark.parametrize("policy", ["pods", "gate-terms", "somebody-gate-term"])
async def test_no_other_refusal_is_its_business(policy: str) -> None:
    server, guard = RefusingServer(policy), NotingGuard()
    with pytest.raises(ApiError):
        await a_guarded_writer(server, guard).patch("/", {})
    assert guard.repeats == []


async def test_who_only_quotes_such_a_refusal_refuses_nothing_for_the_term() -> None:
    """A webhook may say what it likes."""
    text = f'admission webhook "x" denied the request: {BY.format("gate-term")}'
    assert not refused_for_term(ApiError(403, "Forbidden", text))


async def test_without_a_guard_nothing_is_closed() -> None:
    writer = a_guarded_writer(RefusingServer("gate-term"), None)
    with pytest.raises(ApiError):
        await writer.patch("/", {})
    assert not writer.closed
