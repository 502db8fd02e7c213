"""`python -m cardquota_dev.plane.volcano scheduler|controllers|admission`: until SIGTERM.

The API server is that of `KUBECONFIG`. Listens on 127.0.0.1 alone.
"""

import argparse
import asyncio
import logging
import os
import signal
import ssl
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from .admission.webhook_server import VolcanoWebhooks
from .api_client import AccountClient
from .controllers.controllers import Controllers
from .controllers.retry_pauses import RetryPauses
from .scheduler.configuration import ConfigurationFile
from .scheduler.scheduler import VolcanoScheduler

_ABOUT = (
    "A stand-in for Volcano: it does to the API server what was seen of Volcano, as far as a card "
    "quota meets it, and has none of its code."
)

_PROGRAMS: Final = {
    "scheduler": "vc-scheduler",
    "controllers": "vc-controller-manager",
    "admission": "vc-webhook-manager",
}


def main() -> None:
    """Read the command line and work."""
    parser = argparse.ArgumentParser(prog="volcano", description=_ABOUT)
    parser.add_argument("part", choices=("scheduler", "controllers", "admission"))
    parser.add_argument("--port", type=int, required=True, help="of /readyz, and of the webhooks")
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--configuration", type=Path, help="of the scheduler")
    parser.add_argument("--period", type=float, default=1.0, help="seconds between two sessions")
    parser.add_argument("--longest-pause", type=float, help="seconds between two tries")
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO
    )
    asyncio.run(_work(parser.parse_args()))


async def _work(options: argparse.Namespace) -> None:
    async with AccountClient(Path(os.environ["KUBECONFIG"]), _PROGRAMS[options.part]) as api:
        match options.part:
            case "scheduler":
                file = ConfigurationFile(options.configuration)
                scheduler = VolcanoScheduler(api, file, options.period)
                await _until_ended(options, scheduler.work(), lambda: scheduler.listed)
            case "controllers":
                controllers = Controllers(api, RetryPauses(options.longest_pause))
                await _until_ended(options, controllers.work(), lambda: controllers.listed)
            case _:
                routes = VolcanoWebhooks(api).routes()
                await _until_ended(options, asyncio.Event().wait(), lambda: True, routes)


async def _until_ended(
    options: argparse.Namespace,
    work: Coroutine[Any, Any, object],
    is_ready: Callable[[], bool],
    routes: Sequence[web.RouteDef] = (),
) -> None:
    async def ready(_: web.Request) -> web.Response:
        return web.Response(text="ok", status=200 if is_ready() else 503)

    app = web.Application(client_max_size=16 * 1024 * 1024)
    app.add_routes([web.get("/readyz", ready), *routes])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(options.certificate, options.key)
    await web.TCPSite(runner, "127.0.0.1", options.port, ssl_context=tls).start()
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        logging.getLogger(__name__).info("ends")
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    main()
