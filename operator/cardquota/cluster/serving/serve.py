"""Starting to listen, and ending in order."""

import ssl

from aiohttp import web


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
