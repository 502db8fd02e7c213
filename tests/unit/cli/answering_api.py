"""An API server for the commands that says what a test has written down. A fake: it stands for
answers that a real one does not give on demand (refusals, nonsense, pages).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from aiohttp import web
from typer.testing import CliRunner, Result

from builders import Body
from cardquota.cli.plugin import plugin

Answer = tuple[int, str]
"""Status and body."""
Answers = dict[str, Answer]
NOT_SERVED: Answer = (404, "404 page not found\n")
FORBIDDEN: Answer = (403, json.dumps({"kind": "Status", "reason": "Forbidden", "message": "no"}))
NEVER: Answer = (0, "")
"""None, as long as the client waits."""
LEASE = "/apis/coordination.k8s.io/v1/namespaces/cardquota-system/leases/cardquota"


def a_list(*objects: Body | object) -> Answer:
    items = [one.body if isinstance(one, Body) else one for one in objects]
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


async def called(kubeconfig: Path, *arguments: str) -> Result:
    """`kubectl cardquota` with these."""
    every = [*arguments, "--kubeconfig", str(kubeconfig)]
    return await asyncio.to_thread(CliRunner().invoke, plugin, every)


def led(seconds_ago: float = 0, holder: str = "cardquota-0_1a2b") -> Answer:
    """The Lease as its holder renewed it then."""
    renewed = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    at = renewed.isoformat().replace("+00:00", "Z")
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 12, "renewTime": at}
    return 200, json.dumps({"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": spec})


async def answer_led(_: web.Request) -> web.Response:
    """For a server of a test's own."""
    status, text = led()
    return web.Response(status=status, text=text)


@asynccontextmanager
async def answering(
    answers: Mapping[str, Answer],
    folder: Path,
    asked: Callable[[str, dict[str, str]], None] = lambda _, __: None,
    posted: Mapping[str, Answer] = MappingProxyType({}),
) -> AsyncIterator[Path]:
    """The kubeconfig for it. `answers`: by path, or by path, `?` and field selector; somebody leads
    unless they say something else.
    `asked` hears of each path and its query, but for the Lease.
    `posted`: the same to objects that are sent.
    """

    async def answer(request: web.Request) -> web.Response:
        if request.path != LEASE:
            asked(request.path, dict(request.query))
        found = {LEASE: led(), **answers} if request.method == "GET" else posted
        one = f"{request.path}?{request.query.get('fieldSelector', '')}"
        status, text = found.get(one, found.get(request.path, NOT_SERVED))
        if not status:
            await asyncio.Event().wait()
        return web.Response(status=status, text=text)

    async with serving("*", answer, folder) as path:
        yield path


@asynccontextmanager
async def posting(
    answer: Callable[[web.Request], Awaitable[web.Response]], folder: Path
) -> AsyncIterator[Path]:
    """The kubeconfig for one to which objects are sent. `answer`: to each of these."""
    async with serving("POST", answer, folder) as path:
        yield path


def kubeconfig(folder: Path, server: str, more: str = "") -> Path:
    """One that names this server. `more`: of its cluster."""
    path = folder / "config"
    path.write_text(
        "current-context: x\n"
        f"clusters: [{{name: c, cluster: {{server: '{server}'{more}}}}}]\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
    )
    return path


@asynccontextmanager
async def serving(
    method: str, answer: Callable[[web.Request], Awaitable[web.Response]], folder: Path
) -> AsyncIterator[Path]:
    """The kubeconfig for a server that answers so."""
    app = web.Application()
    if method == "POST":
        app.router.add_get(LEASE, answer_led)
    app.router.add_route(method, "/{path:.*}", answer)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield kubeconfig(folder, f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
