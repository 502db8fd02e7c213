"""How to reach the API server: address, TLS, and our identity; from a pod's own files, or from a
kubeconfig, whose credential plugins `kubernetes_asyncio` runs.

Why its loader is not used for all: it sends a token file with its line break and never reads it
again, prefers the `token` beside it, leaves private keys in files until the process ends, takes the
last current context where kubectl takes the first, looks for a user's files beside the cluster's,
and fails for a context without a user. `test_kubeconfig_library` fails as soon as it does better.
It also costs 0.4 s and 37 MB to import, so it is imported only for `exec` and `auth-provider`.
"""

import asyncio
import base64
import logging
import os
import re
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import msgspec
from yarl import URL

from ...quota.words import listed, show

Authorization = Callable[[], Awaitable[str | None]]
"""Called before every request. Returns the value of the header `Authorization`, or None."""


class AccessError(Exception):
    """There is no usable way to an API server. The text says what is missing."""


@dataclass(frozen=True, slots=True)
class Access:
    """One API server and our credentials. Its text form contains no secret."""

    server: str
    """Scheme, host, port and maybe a path, without a slash at the end."""
    tls: ssl.SSLContext | None
    """None for plain http."""
    authorization: Authorization
    server_hostname: str | None = None
    """The name the certificate must have, if not the host."""
    proxy: str | None = None
    """URL of an HTTP proxy. Proxies of the environment are not used."""
    namespace: str = "default"
    """The one that is meant where none is named."""


class TokenFile:
    """A bearer token in a file that is replaced from time to time.

    Guarantees: the first request after the file was replaced uses the new token. While the file is
    unreadable or empty, the last token stays in use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        """Differs once somebody has replaced the file, or written it anew."""
        self._token = ""
        self._refresh()
        if not self._token:
            raise AccessError(f"token file {path} is missing, unreadable or empty")

    async def __call__(self) -> str:
        """The value of the header."""
        self._refresh()
        return f"Bearer {self._token}"

    def _refresh(self) -> None:
        # One stat() per request costs microseconds; caching the token for a while would cause 401s.
        try:
            stat = self._path.stat()
            seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if seen == self._seen:
                return
            token = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return
        if token:
            self._token, self._seen = token, seen


def open_session(access: Access) -> aiohttp.ClientSession:
    """For a library that sends its own requests: a session whose requests to the API server carry
    our credentials. The caller closes it.

    Guarantees: credentials are read before each request, so new ones are used at once. They are
    sent to no other server, wherever a redirect leads. Errors while reading them are raised as
    `aiohttp.ClientConnectionError`, which libraries treat as temporary.
    """
    origin = URL(access.server).origin()

    async def as_us(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.url.origin() == origin:
            try:
                authorization = await access.authorization()
            except AccessError as error:
                raise aiohttp.ClientConnectionError(str(error)) from error
            if authorization is not None:
                request.headers["Authorization"] = authorization
            request.server_hostname = access.server_hostname
        return await send(request)

    return aiohttp.ClientSession(
        # No bound: the caller bounds what it has in flight.
        connector=aiohttp.TCPConnector(limit=0, ssl=access.tls or True),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(as_us,),
        proxy=access.proxy,
    )


_PLUGIN_TIMEOUT: Final = 60.0
"""Seconds after which a silent plugin is given up."""
_PLACE: Final = re.compile(r" - at `\$\.?([^`]{1,200})`$")
"""Where msgspec finds something of another type than it expects."""
_IMPERSONATES: Final = (
    "its user {!r} acts as somebody else (`as`, `as-groups`), which is not supported: name a "
    "context of a user that does not"
)


class _Cluster(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None


class _User(msgspec.Struct, rename="kebab"):
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
    as_user: Any = msgspec.field(default=None, name="as")
    as_uid: Any = None
    as_groups: Any = None
    as_user_extra: Any = None

    @property
    def impersonates(self) -> bool:
        """Whether kubectl would act as somebody else."""
        return any((self.as_user, self.as_uid, self.as_groups, self.as_user_extra))


class _Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedEntry(msgspec.Struct):
    """An entry of any of the three lists: a name, and its content."""

    name: str = ""
    cluster: _Cluster = msgspec.field(default_factory=_Cluster)
    user: _User = msgspec.field(default_factory=_User)
    context: _Context = msgspec.field(default_factory=_Context)
    base: Path = Path()
    """Folder of the file that it was read from: relative paths start there."""


class _File(msgspec.Struct, rename="kebab"):
    current_context: str = ""
    clusters: list[_NamedEntry] | None = None
    users: list[_NamedEntry] | None = None
    contexts: list[_NamedEntry] | None = None


MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


async def find_access(kubeconfig: Path | None = None, context: str = "") -> Access:
    """Find the API server: what the caller names comes first, then `KUBECONFIG`, then the files
    that Kubernetes mounts into a pod, then `~/.kube/config`. So a pod never uses a kubeconfig that
    happens to be in its image.

    `context`: use this context of the kubeconfig instead of its current one. A pod's own account
    has no contexts, so naming one selects a kubeconfig.
    Errors: AccessError.
    """
    if kubeconfig is not None:
        return await from_kubeconfig([kubeconfig], context)
    named = os.environ.get("KUBECONFIG", "")
    if named:
        return await from_kubeconfig([Path(p) for p in named.split(os.pathsep) if p], context)
    if not context and (MOUNT / "token").is_file() and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(MOUNT, os.environ)
    return await from_kubeconfig([Path.home() / ".kube" / "config"], context)


def in_cluster(mount: Path, environ: "os._Environ[str] | dict[str, str]") -> Access:
    """The access of a pod's service account, from its mounted files and the environment.

    Not guaranteed: that a new cluster CA is noticed; that takes a restart.
    Errors: AccessError.
    """
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise AccessError("KUBERNETES_SERVICE_HOST is not set")
    if ":" in host:
        host = f"[{host}]"
    try:
        tls = ssl.create_default_context(cafile=str(mount / "ca.crt"))
    except (OSError, ssl.SSLError) as error:
        raise AccessError(f"cannot read the cluster's CA {mount / 'ca.crt'}: {error}") from error
    namespace = mount / "namespace"
    own = namespace.read_text().strip() if namespace.is_file() else ""
    token = TokenFile(mount / "token")
    return Access(f"https://{host}:{port}", tls, token, namespace=own or "default")


async def from_kubeconfig(paths: Sequence[Path], context: str = "") -> Access:
    """The access of a context; of the current one if none is named.

    If there are several files, the first that sets a value wins. Missing files are skipped.
    Errors: AccessError.
    """
    where = f"kubeconfig {os.pathsep.join(map(str, paths))}"
    try:
        entry, user, namespace = _chosen(where, [path for path in paths if path.exists()], context)
        cluster = entry.cluster
        tls = _tls(entry, user) if cluster.server.startswith("https") else None
        if user.user.exec is None and user.user.auth_provider is None:
            authorization = _authorization(user)
        else:
            authorization = await _plugin(where, user.user, tls)
    except ssl.SSLError as error:
        raise AccessError(f"{where}: a certificate or its key cannot be used: {error}") from error
    except OSError as error:
        name = error.filename or "a file that it names"
        raise AccessError(f"{where}: {name}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise AccessError(f"{where}: {error}") from error
    server = cluster.server.rstrip("/")
    return Access(
        server,
        tls,
        authorization,
        cluster.tls_server_name,
        cluster.proxy_url,
        namespace or "default",
    )


def _chosen(where: str, files: list[Path], name: str) -> tuple[_NamedEntry, _NamedEntry, str]:
    """The cluster, the user and the namespace of the context."""
    clusters: dict[str, _NamedEntry] = {}
    users: dict[str, _NamedEntry] = {}
    contexts: dict[str, _NamedEntry] = {}
    if not files:
        raise AccessError(f"{where}: there is no such file")
    for path in files:
        file = _read(path)
        name = name or file.current_context
        lists = (clusters, file.clusters), (users, file.users), (contexts, file.contexts)
        for known, entries in lists:
            for entry in entries or ():
                entry.base = path.parent
                known.setdefault(entry.name, entry)
    if not name:
        raise AccessError(f"{where}: no context is named, and none is current")
    if name not in contexts:
        raise AccessError(f"{where}: {_no_context(name, list(contexts))}")
    context = contexts[name].context
    cluster = clusters.get(context.cluster)
    if cluster is None or not cluster.cluster.server:
        raise AccessError(f"{where}: its context {show(name)!r} names no cluster with a server")
    if not _is_address(cluster.cluster.server):
        problem = f"its server {cluster.cluster.server!r} is not a URL with http:// or https://"
        raise AccessError(f"{where}: {problem}")
    user = users.get(context.user, _NamedEntry())
    if user.user.impersonates:
        raise AccessError(f"{where}: {_IMPERSONATES.format(show(context.user))}")
    return cluster, user, context.namespace


def _no_context(name: str, there: Sequence[str]) -> str:
    """Nothing has this name. `there`: the contexts that there are."""
    lacks = f"there is no context {show(name)!r}"
    return f"{lacks}; there are: {listed(there)}" if there else f"{lacks}, and no other"


def _is_address(server: str) -> bool:
    try:
        found = URL(server)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and bool(found.host)


def _read(path: Path) -> _File:
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise AccessError(f"kubeconfig {path}: cannot be read: {error.strerror}") from error
    except msgspec.ValidationError as error:
        place = _PLACE.search(str(error))
        which = f": {place[1]} is malformed" if place else ""
        raise AccessError(f"kubeconfig {path}: is not a kubeconfig{which}") from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise AccessError(f"kubeconfig {path}: is not YAML") from error


def _tls(entry: _NamedEntry, entry_of_user: _NamedEntry) -> ssl.SSLContext:
    cluster, user, base = entry.cluster, entry_of_user.user, entry_of_user.base
    ca = _pem(entry.base, cluster.certificate_authority, cluster.certificate_authority_data)
    try:
        tls = ssl.create_default_context(cadata=ca.decode() if ca else None)
    except UnicodeDecodeError as error:
        raise ValueError("its certificate authority is not PEM text") from error
    if cluster.insecure_skip_tls_verify:
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate = _pem(base, user.client_certificate, user.client_certificate_data)
    key = _pem(base, user.client_key, user.client_key_data)
    if certificate and key:
        # The ssl module reads keys only from files: use a private temporary file for a moment.
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            tls.load_cert_chain(file.name)
    return tls


def _pem(base: Path, path: str | None, data: str | None) -> bytes | None:
    if data:
        return base64.b64decode(data)
    return (base / path).read_bytes() if path else None


def _authorization(entry: _NamedEntry) -> Authorization:
    user = entry.user
    if user.token_file:
        return TokenFile(entry.base / user.token_file)
    value: str | None = None
    if user.token:
        value = f"Bearer {user.token}"
    elif user.username is not None and user.password is not None:
        value = "Basic " + base64.b64encode(f"{user.username}:{user.password}".encode()).decode()

    async def fixed() -> str | None:
        return value

    return fixed


async def _plugin(where: str, user: _User, tls: ssl.SSLContext | None) -> "Shared":
    """Have `kubernetes_asyncio` run the plugin, now and whenever its token is about to expire.

    Guarantees: one run at a time for all callers. A slow run continues after its caller gave up,
    and the next caller gets its token.
    Not guaranteed: that client certificates of a plugin are renewed; that takes a restart. Nor that
    a hanging plugin is ended: after 60 s it is left alone, and the next request runs another.
    """
    from kubernetes_asyncio.client.configuration import Configuration
    from kubernetes_asyncio.config import load_kube_config_from_dict

    # It logs what it then raises, and we say that once.
    library = logging.getLogger("kubernetes_asyncio")
    library.addHandler(logging.NullHandler())
    library.propagate = False
    entries = {"exec": user.exec, "auth-provider": user.auth_provider}
    # No more than the library needs to run it: the rest is read above.
    config = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": ""}}],
        "users": [{"name": "it", "user": {k: v for k, v in entries.items() if v is not None}}],
    }
    found = Configuration()
    try:
        loader = await load_kube_config_from_dict(config, client_configuration=found)
        # The library loads a certificate only for a server by https, which is not given here.
        if tls is not None and found.cert_file:
            tls.load_cert_chain(found.cert_file, found.key_file)
    except Exception as error:
        raise AccessError(f"{where}: {_plugin_problem(error)}") from error
    if user.exec is not None and not found.cert_file and not found.api_key:
        raise AccessError(f"{where}: the credential plugin gave neither a token nor a certificate")

    async def refreshed() -> str | None:
        try:
            async with asyncio.timeout(_PLUGIN_TIMEOUT):
                await loader.load_and_set(found)
        except TimeoutError as error:
            raise AccessError("the kubeconfig's plugin gave no answer within 60 s") from error
        except Exception as error:
            problem = _plugin_problem(error)
            raise AccessError(f"the kubeconfig's plugin failed: {problem}") from error
        token: str | None = found.api_key.get("BearerToken")
        return token

    return Shared(refreshed)


def _plugin_problem(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"the credential plugin {error.filename!r} is not there"
    if isinstance(error, OSError) and error.strerror:
        which = f" {error.filename!r}" if error.filename else ""
        return f"the credential plugin{which}: {error.strerror}"
    if isinstance(error, TypeError | KeyError | AttributeError):
        return "its exec section is malformed"
    return str(error)


class Shared:
    """An authorization that is computed once for all concurrent callers.

    Guarantees: cancelling one waiting caller does not cancel the others' answer. Errors are those
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
            task.exception()  # Retrieved, as there may be no caller left; that is no error.
