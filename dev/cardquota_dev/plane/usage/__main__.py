"""`python -m cardquota_dev.plane.usage`: serves both APIs over HTTPS until SIGTERM.

The API server is that of `KUBECONFIG`. Listens on 127.0.0.1 alone.
"""

import argparse
import asyncio
import logging
import signal
from pathlib import Path

from aiohttp import web

from cardquota.cluster.api.access import find_access
from cardquota.cluster.api.client import Client
from cardquota.cluster.serving.tls import server_context

from .server import UsageServer

_GRACE = 1.0
"""Seconds for requests that are being answered at the end."""


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="usage")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    options = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    certificate, key = options.certificate.read_bytes(), options.key.read_bytes()
    asyncio.run(_serve(options.port, certificate, key))


async def _serve(port: int, certificate: bytes, key: bytes) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    api = Client(await find_access())
    try:
        application = UsageServer(api).application()
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_GRACE)
        await runner.setup()
        tls = server_context(certificate, key)
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
        try:
            await ended.wait()
        finally:
            await runner.cleanup()
    finally:
        await api.close()


if __name__ == "__main__":
    main()
