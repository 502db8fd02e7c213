"""Why kubeconfigs are read by us: promises that `kubernetes_asyncio`'s loader breaks.

Each test is run with both. One that the library passes fails here: then that part of ours may go.
"""

import base64
import os
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders.certificates import Issued, issue
from cardquota.cluster.api import from_kubeconfig

Header = Callable[[], Awaitable[str | None]]
Load = Callable[..., Awaitable[tuple[str, Header]]]
"""The server, and what is asked for the header before each request."""

CONTEXT = "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
CLUSTER = "clusters: [{name: c, cluster: {server: 'https://h:1'}}]\n"


async def ours(*paths: Path) -> tuple[str, Header]:
    access = await from_kubeconfig(paths)
    return access.server, access.authorization


async def theirs(*paths: Path) -> tuple[str, Header]:
    from kubernetes_asyncio.client.configuration import Configuration
    from kubernetes_asyncio.client.rest import RESTClientObject
    from kubernetes_asyncio.config import load_kube_config

    found: Any = Configuration()
    listed = os.pathsep.join(map(str, paths))
    await load_kube_config(listed, client_configuration=found, persist_config=False)
    await RESTClientObject(found).close()  # reads the certificates

    async def header() -> str | None:
        value = await found.get_api_key_with_prefix("BearerToken")
        return None if value is None else str(value)

    return found.host, header


BROKEN = [pytest.mark.slow, pytest.mark.xfail(strict=True, reason="the library breaks it")]


@pytest.fixture(params=[ours, pytest.param(theirs, marks=BROKEN)])
def load(request: pytest.FixtureRequest) -> Load:
    chosen: Load = request.param
    return chosen


@pytest.fixture(scope="module")
def pair() -> Issued:
    return issue(["me"], now=datetime.now(UTC), days=1)


def config(path: Path, *parts: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(parts))
    return path


def user(text: str) -> str:
    return f"users: [{{name: u, user: {{{text}}}}}]\n"


async def test_a_token_file_may_end_in_a_line_break(load: Load, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("filed\n")
    _, header = await load(config(tmp_path / "c", CONTEXT, CLUSTER, user("tokenFile: token")))
    assert await header() == "Bearer filed"


async def test_a_token_file_is_read_again(load: Load, tmp_path: Path) -> None:
    token = config(tmp_path / "token", "old")
    _, header = await load(config(tmp_path / "c", CONTEXT, CLUSTER, user("tokenFile: token")))
    token.write_text("newer")
    assert await header() == "Bearer newer"


async def test_a_token_file_comes_before_a_token(load: Load, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("filed")
    text = user("tokenFile: token, token: stale")
    _, header = await load(config(tmp_path / "c", CONTEXT, CLUSTER, text))
    assert await header() == "Bearer filed"


async def test_no_private_key_is_left_in_a_file(
    load: Load, tmp_path: Path, pair: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = (base64.b64encode(pem).decode() for pem in (pair.cert_pem, pair.key_pem))
    text = user(f"client-certificate-data: {cert}, client-key-data: {key}")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    await load(config(tmp_path / "c", CONTEXT, CLUSTER, text))
    assert not list(scratch.iterdir())


async def test_files_are_beside_what_names_them(load: Load, tmp_path: Path, pair: Issued) -> None:
    text = user("client-certificate: cert.pem, client-key: key.pem")
    second = config(tmp_path / "another" / "c", text)
    (second.parent / "cert.pem").write_bytes(pair.cert_pem)
    (second.parent / "key.pem").write_bytes(pair.key_pem)
    server, _ = await load(config(tmp_path / "one" / "c", CONTEXT, CLUSTER), second)
    assert server == "https://h:1"


async def test_the_first_current_context_counts(load: Load, tmp_path: Path) -> None:
    first = config(tmp_path / "a", CONTEXT, CLUSTER, user("token: a"))
    _, header = await load(first, config(tmp_path / "b", "current-context: elsewhere\n"))
    assert await header() == "Bearer a"


async def test_a_context_needs_no_user(load: Load, tmp_path: Path) -> None:
    server, _ = await load(config(tmp_path / "c", CONTEXT.replace(", user: u", ""), CLUSTER))
    assert server == "https://h:1"
