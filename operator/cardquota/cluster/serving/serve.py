"""Starting to listen, ending in order, and how large a body may be."""

import asyncio
import ssl
from collections.abc import Callable

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage

RequestFactory = Callable[
    [
        RawRequestMessage,
        StreamReader,
        web.RequestHandler,
        AbstractStreamWriter,
        "asyncio.Task[None]",
    ],
    web.BaseRequest,
]


def requests_up_to(largest_body: int) -> RequestFactory:
    """For a `web.Server`: requests whose body has at most so many bytes. aiohttp's own limit is
    1 MiB.
    """

    def request(
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(
            message, payload, protocol, writer, task, loop, client_max_size=largest_body
        )

    return request


async def serve(
    what: web.Application | web.Server,
    *,
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    grace: float,
) -> web.BaseRunner:
    """Start serving. The runner's `cleanup` answers what is in flight within `grace` seconds.

    Raises OSError if the address is in use.
    """
    runner: web.BaseRunner
    if isinstance(what, web.Application):
        runner = web.AppRunner(what, access_log=None, shutdown_timeout=grace)
    else:
        runner = web.ServerRunner(what, shutdown_timeout=grace)
    await runner.setup()
    await web.TCPSite(runner, host, port, ssl_context=tls).start()
    return runner
