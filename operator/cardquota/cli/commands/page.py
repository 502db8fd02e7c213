"""`kubectl cardquota page`: the operator's page in the browser of this machine, with one's rights.

In: a cluster, or the address of an operator. Out: a URL, for as long as the command runs.
"""

import asyncio
import os
import signal
import sys
import tempfile
import webbrowser
from contextlib import AsyncExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Final

import typer
from yarl import URL

from ...cluster.api.access import find_access
from ...cluster.api.client import Client
from ...quota.limits import is_object_name
from ..arguments import quoted
from ..output import ClusterChoice
from ..page.port_forward import PortForward
from ..page.proxy import PageProxy
from ..page.tokens import AccountToken, TokenSource, UserToken
from ..printing import in_one_line
from ..reading import ClusterError, done

_OFF: Final = (
    "the operator serves no page: set page.enabled in its configuration, as the component `page` "
    "does"
)


def page(
    namespace: str,
    *,
    address: str,
    port: int,
    browser: bool,
    account: tuple[str, str] | None,
    cluster: ClusterChoice,
) -> None:
    """`namespace`: the operator's. Ends by Ctrl-C, or SIGTERM. Errors: typer.Exit."""
    done(_serve(namespace, address, port, account, cluster, browser=browser))


async def _serve(
    namespace: str,
    address: str,
    port: int,
    account: tuple[str, str] | None,
    cluster: ClusterChoice,
    *,
    browser: bool,
) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGHUP):  # Ctrl-C is the command group's
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as ending:
        access = await find_access(*cluster)
        client = Client(access)
        ending.push_async_callback(client.close)
        token: TokenSource = AccountToken(client, *account) if account else UserToken(access)
        await token()
        forward = PortForward(client, namespace, cluster)
        ending.push_async_callback(forward.stop)
        if not address:
            await forward.start()
        proxy = PageProxy(lambda: address or forward.address, token)
        ending.push_async_callback(proxy.stop)
        await _look(proxy)
        url = await proxy.start(port)
        typer.echo(url)
        typer.echo("The page is there, with your rights, until Ctrl-C.", err=True)
        if browser and _has_screen():
            folder = ending.enter_context(tempfile.TemporaryDirectory(prefix="cardquota-"))
            file = _file_that_leads_to(url, Path(folder))
            await asyncio.to_thread(webbrowser.open, file.as_uri())
        await stop.wait()


def _file_that_leads_to(url: str, folder: Path) -> Path:
    """All users of the machine see what a browser is started with: no secret may be in it (F8).
    `folder`: one that only this user reads.
    """
    file = folder / "page.html"
    file.touch(0o600)
    file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">\n')
    return file


async def _look(proxy: PageProxy) -> None:
    """Whether there is a page, and anything on it. Errors: ClusterError."""
    found = await proxy.ask("overview")
    body = found.body if isinstance(found.body, bytes) else b""
    if found.status == HTTPStatus.NOT_FOUND:
        raise ClusterError(_OFF)
    if found.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise ClusterError(in_one_line(body.decode(errors="replace")))


def _has_screen() -> bool:
    """Without one a browser would take the terminal."""
    return sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def checked_address(address: str) -> str:
    """Scheme, host and port, and nothing else; empty if it is empty. Raises BadParameter."""
    if not address:
        return ""
    try:
        found = URL(address)
        if found.scheme in ("http", "https") and found == found.origin():
            return str(found.origin())
    except ValueError:
        pass
    why = f"{quoted(address)} is no URL as http://HOST:PORT"
    raise typer.BadParameter(why, param_hint="--address")


def checked_account(account: str) -> tuple[str, str] | None:
    """Namespace and name; None if it is empty. Raises BadParameter."""
    namespace, _, name = account.partition("/")
    if account and not (is_object_name(namespace) and is_object_name(name)):
        why = f"{quoted(account)} is not NAMESPACE/NAME"
        raise typer.BadParameter(why, param_hint="--service-account")
    return (namespace, name) if account else None
