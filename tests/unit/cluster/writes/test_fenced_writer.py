"""What bounds the requests of a term."""

import asyncio

import pytest

from cardquota.cluster.api import Access, Client, OutcomeUnknown
from cardquota.cluster.writes import FencedWriter, TooLateError

from ...control.fakes import Script, a_writer, until


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
        deadline = loop.time() + 0.8
        writer = FencedWriter(client, lambda: deadline - loop.time(), timeout=0.2, at_a_time=1)
        if needs < 1:
            await writer.patch("/", {})
            assert sent[0] < deadline
        else:
            with pytest.raises(OutcomeUnknown, match="no credentials"):
                await writer.patch("/", {})
            assert loop.time() < deadline
            assert sent == []
        await client.close()
