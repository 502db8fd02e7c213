"""Requests to the API server, and what their failure means.

Everything else relies on one distinction: `ApiError` says that a write did *not* happen,
`OutcomeUnknown` says that it may have happened or may still happen (writes were seen to land 12 s
after their 504). No request is ever repeated behind the caller's back.

Why not the library's client: `kubernetes_asyncio` reports a refusal and a lost answer by one
exception, returns its own models where we decode partial structs, and costs 0.4 s and 37 MB to
import. It only runs the credential plugins of kubeconfigs (`access`); the transport is aiohttp.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
import msgspec

from .access import Access, AccessError
from .api_error import NO_HEADER, ApiError, OutcomeUnknown, in_words, read_failure

MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"

_JSON: Final = "application/json"
_METADATA: Final = f"{_JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
CONNECTIONS: Final = 1_100
"""Enough for the four kinds of a leader's writes with 256 in flight each, a watch per kind, and the
events. The Lease, which must never wait for these, has its own client."""
_NO_TIMEOUT: Final = aiohttp.ClientTimeout()
_KEEP_ALIVE: Final = 30.0
"""Seconds; less than the API server keeps an idle connection. If the server closed it first, the
outcome of a write would be unknown."""


class Client:
    """A connection pool to one API server. Belongs to the event loop it was created in.

    Guarantees: every call ends within its timeout (seconds, in total: credentials, connection and
    answer) with the body of a 2xx answer, `ApiError` or `OutcomeUnknown`. A request is sent at most
    once, and never after its timeout. Redirects are not followed. No error text contains a header
    that we sent.
    Not guaranteed: that a cancelled call did not take effect. The clock of the timeouts stops while
    the machine sleeps.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self.namespace: Final = access.namespace
        """The one that is meant where none is named."""
        self._options: dict[str, Any] = {
            "allow_redirects": False,
            "ssl": access.tls if access.tls is not None else True,
            "server_hostname": access.server_hostname,
            "proxy": access.proxy,
        }
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=_KEEP_ALIVE),
            cookie_jar=aiohttp.DummyCookieJar(),
            # Compression costs the API server more than it saves on the network.
            headers={
                "User-Agent": "cardquota",
                "Accept": _JSON,
                "Accept-Encoding": "identity",
            },
        )
        # aiohttp repeats a PUT or DELETE if a kept connection turns out to be closed. If the first
        # PUT did land, the answer would be 409, a definite "did not happen".
        self._session._retry_connection = False  # noqa: SLF001 - aiohttp has no option for it

    async def get(
        self, path: str, *, params: Mapping[str, str] | None = None, timeout: float = 10.0
    ) -> bytes:
        """Read `path`. Without `resourceVersion` in `params` this is a quorum read."""
        return await self.send("GET", path, params=params, timeout=timeout)

    async def post(
        self,
        path: str,
        body: object,
        *,
        params: Mapping[str, str] | None = None,
        timeout: float = 10.0,
    ) -> bytes:
        """Create."""
        return await self.send("POST", path, body, params=params, timeout=timeout)

    async def patch(
        self,
        path: str,
        body: object,
        *,
        content_type: str = MERGE_PATCH,
        params: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        metadata_only: bool = False,
    ) -> bytes:
        """Patch. APPLY_PATCH needs `fieldManager` in `params`.

        `metadata_only`: the answer is the object's metadata, which costs the API server less.
        """
        return await self.send(
            "PATCH",
            path,
            body,
            content_type=content_type,
            params=params,
            timeout=timeout,
            accept=_METADATA if metadata_only else _JSON,
        )

    async def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = _JSON,
        params: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        accept: str = _JSON,
    ) -> bytes:
        """Any request. `body` is sent unchanged if it is bytes, else encoded as JSON."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        headers = await self._headers(f"{method} {path}", timeout)
        headers["Accept"] = accept
        data: bytes | None = None
        if body is not None:
            data = body if isinstance(body, bytes) else msgspec.json.encode(body)
            headers["Content-Type"] = content_type
        if loop.time() >= end:  # the machine slept, or the process did
            raise OutcomeUnknown(f"{method} {path}: not sent within {timeout:g} s")
        try:
            # Not by aiohttp, which takes a cancellation for its own time-out if both come at once.
            async with (
                asyncio.timeout_at(end),
                self._session.request(
                    method,
                    self._access.server + path,
                    params=params,
                    data=data,
                    headers=headers,
                    timeout=_NO_TIMEOUT,
                    **self._options,
                ) as response,
            ):
                answer = await response.read()
                if 200 <= response.status < 300:
                    return answer
                raise read_failure(response.status, response.headers, answer)
        except TimeoutError as error:
            raise OutcomeUnknown(f"{method} {path}: no answer within {timeout:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise OutcomeUnknown(f"{method} {path}: {in_words(error)}") from error

    @asynccontextmanager
    async def watch(
        self, path: str, *, params: Mapping[str, str], read_timeout: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open a stream. Iterate over `response.content.iter_any()` for its bytes.

        `watch=true` is added to `params`. Errors: ApiError and OutcomeUnknown on opening. While
        iterating: `aiohttp.ClientError`, and TimeoutError after `read_timeout` seconds of silence.
        Chunks may split lines anywhere. Leaving the context closes the connection.
        """
        headers = await self._headers(f"watch {path}", read_timeout)
        try:
            response = await self._session.get(
                self._access.server + path,
                params={**params, "watch": "true"},
                headers=headers,
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=read_timeout, sock_read=read_timeout
                ),
                **self._options,
            )
        except TimeoutError as error:
            raise OutcomeUnknown(f"watch {path}: no answer within {read_timeout:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise OutcomeUnknown(f"watch {path}: {in_words(error)}") from error
        try:
            if response.status != 200:
                try:
                    answer = await response.read()
                except (TimeoutError, aiohttp.ClientError) as error:
                    raise OutcomeUnknown(f"watch {path}: {in_words(error)}") from error
                raise read_failure(response.status, response.headers, answer)
            yield response
        finally:
            drop(response)

    async def _headers(self, what: str, timeout: float) -> dict[str, str]:
        try:
            async with asyncio.timeout(timeout):
                authorization = await self._access.authorization()
        except TimeoutError as error:
            raise OutcomeUnknown(f"{what}: no credentials within {timeout:g} s") from error
        except AccessError as error:
            raise OutcomeUnknown(str(error)) from error
        if authorization is None:
            return {}
        if not authorization.isprintable():
            raise OutcomeUnknown(f"{what}: {NO_HEADER}")
        return {"Authorization": authorization}

    async def close(self) -> None:
        """Close all connections. Running calls end with OutcomeUnknown."""
        await self._session.close()


async def get_if_there(client: Client, path: str, timeout: float = 10.0) -> bytes | None:
    """A quorum read. None: there is nothing at this path."""
    try:
        return await client.get(path, timeout=timeout)
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def drop(response: aiohttp.ClientResponse) -> None:
    """End a stream now. An iteration over it raises `aiohttp.ClientError`.

    Without TLS's closing handshake, which would wait 30 s for a stalled peer.
    """
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()
