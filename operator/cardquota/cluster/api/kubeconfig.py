"""Access by kubeconfig: tokens, token files, client certificates, passwords; plugins on demand.

The common cases are read here, because importing `kubernetes_asyncio` costs 0.4 s and 39 MB.
It is imported only for users with an `exec` or `auth-provider` entry, for whom it runs the plugin.
"""

import asyncio
import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from .access import Access, AccessError, Authorization, TokenFile

_PLUGIN_TIMEOUT: Final = 60.0
"""Seconds after which a plugin that says nothing is given up."""


class _Wire(msgspec.Struct, rename="kebab", kw_only=True):
    base: Path = Path()
    """Folder of the file it was read from: relative paths begin there."""


class _Cluster(_Wire):
    server: str = ""
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None


class _User(_Wire):
    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    username: str | None = None
    password: str | None = None
    exec: Any = None
    auth_provider: Any = None


class _Context(_Wire):
    cluster: str = ""
    user: str = ""


class _NamedCluster(msgspec.Struct):
    name: str
    cluster: _Cluster


class _NamedUser(msgspec.Struct):
    name: str
    user: _User


class _NamedContext(msgspec.Struct):
    name: str
    context: _Context


class _File(msgspec.Struct, rename="kebab"):
    current_context: str = ""
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None


async def from_kubeconfig(paths: Sequence[Path], context: str = "") -> Access:
    """The access of a context, of the current one where none is named.

    Of several files, the first to say something wins; one that does not exist says nothing.
    Errors: AccessError.
    """
    try:
        cluster, user = _chosen(paths, context)
        if user.exec is not None or user.auth_provider is not None:
            return await _with_plugin(paths, cluster, context)
        tls = _tls(cluster, user) if cluster.server.startswith("https") else None
        return _access(cluster, tls, _authorization(user))
    except (OSError, ssl.SSLError, binascii.Error) as error:
        raise AccessError(f"kubeconfig {_listed(paths)}: {error}") from error


def _listed(paths: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, paths))


def _chosen(paths: Sequence[Path], name: str) -> tuple[_Cluster, _User]:
    clusters: dict[str, _Cluster] = {}
    users: dict[str, _User] = {}
    contexts: dict[str, _Context] = {}
    files = [path for path in paths if path.is_file()]
    if not files:
        raise AccessError(f"kubeconfig {_listed(paths)}: there is no such file")
    for path in files:
        try:
            file = msgspec.yaml.decode(path.read_bytes(), type=_File)
        except msgspec.MsgspecError as error:
            raise AccessError(f"kubeconfig {path}: {error}") from error
        name = name or file.current_context
        for c in file.clusters or ():
            _first(clusters, c.name, c.cluster, path)
        for u in file.users or ():
            _first(users, u.name, u.user, path)
        for k in file.contexts or ():
            _first(contexts, k.name, k.context, path)
    if not name:
        raise AccessError(f"kubeconfig {_listed(paths)}: no context is named, and none is current")
    context = contexts.get(name)
    cluster = clusters.get(context.cluster) if context else None
    if context is None or cluster is None or not cluster.server:
        raise AccessError(f"kubeconfig {_listed(paths)}: no server for the context {name!r}")
    return cluster, users.get(context.user, _User())


_W = TypeVar("_W", bound=_Wire)


def _first(known: dict[str, _W], name: str, entry: _W, path: Path) -> None:
    entry.base = path.parent
    known.setdefault(name, entry)


def _access(cluster: _Cluster, tls: ssl.SSLContext | None, authorization: Authorization) -> Access:
    return Access(
        cluster.server.rstrip("/"), tls, authorization, cluster.tls_server_name, cluster.proxy_url
    )


def _tls(cluster: _Cluster, user: _User) -> ssl.SSLContext:
    ca = _pem(cluster.base, cluster.certificate_authority, cluster.certificate_authority_data)
    tls = ssl.create_default_context(cadata=ca.decode() if ca else None)
    if cluster.insecure_skip_tls_verify:
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate = _pem(user.base, user.client_certificate, user.client_certificate_data)
    key = _pem(user.base, user.client_key, user.client_key_data)
    if certificate and key:
        # The ssl module reads keys from files only: one that nobody else may read, for a moment.
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            tls.load_cert_chain(file.name)
    return tls


def _pem(base: Path, path: str | None, data: str | None) -> bytes | None:
    if data:
        return base64.b64decode(data)
    return (base / path).read_bytes() if path else None


def _authorization(user: _User) -> Authorization:
    if user.token_file:
        return TokenFile(user.base / user.token_file)
    value: str | None = None
    if user.token:
        value = f"Bearer {user.token}"
    elif user.username is not None and user.password is not None:
        value = "Basic " + base64.b64encode(f"{user.username}:{user.password}".encode()).decode()

    async def fixed() -> str | None:
        return value

    return fixed


async def _with_plugin(paths: Sequence[Path], cluster: _Cluster, context: str) -> Access:
    """Let `kubernetes_asyncio` run the plugin, now and whenever its token is about to end.

    Guarantees: one run at a time, whoever asks, and one that is slow goes on when who asked for it
    gave up: its token is there for the next who asks.
    Not guaranteed: client certificates of a plugin are renewed; that takes a restart. Nor that a
    plugin which hangs is ended: after 60 s it is left alone, and the next request runs another.
    """
    from kubernetes_asyncio.client.configuration import Configuration
    from kubernetes_asyncio.config import load_kube_config

    configuration = Configuration()
    try:
        loader = await load_kube_config(
            config_file=_listed(paths),
            context=context or None,
            client_configuration=configuration,
            persist_config=False,
        )
    except Exception as error:
        raise AccessError(f"kubeconfig {_listed(paths)}: {error}") from error
    tls = None
    if cluster.server.startswith("https"):
        tls = _tls(cluster, _User())
        if configuration.cert_file:
            tls.load_cert_chain(configuration.cert_file, configuration.key_file)

    async def refreshed() -> str | None:
        try:
            async with asyncio.timeout(_PLUGIN_TIMEOUT):
                if loader.provider == "gcp":
                    await loader.load_gcp_token()
                elif loader.provider is None:
                    await loader.load_from_exec_plugin()
        except TimeoutError as error:
            raise AccessError("the kubeconfig's plugin said nothing for 60 s") from error
        except Exception as error:
            raise AccessError(f"the kubeconfig's plugin failed: {error}") from error
        token: str | None = getattr(loader, "token", None)
        return token

    return _access(cluster, tls, Shared(refreshed))


class Shared:
    """An authorization that is worked out once for all who ask at the same time.

    Guarantees: whoever is cancelled while waiting cancels nobody else's answer. Errors are those
    of the call. Belongs to one event loop.
    """

    def __init__(self, call: Callable[[], Coroutine[Any, Any, str | None]]) -> None:
        self._call = call
        self._running: asyncio.Task[str | None] | None = None

    async def __call__(self) -> str | None:
        """The value of the header."""
        if self._running is None:
            self._running = asyncio.create_task(self._call())
            self._running.add_done_callback(self._over)
        return await asyncio.shield(self._running)

    def _over(self, task: "asyncio.Task[str | None]") -> None:
        self._running = None
        if not task.cancelled():
            task.exception()  # Nobody may be waiting any more; that is no error.
