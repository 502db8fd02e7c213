"""A call that one replica passes on to the one that leads, over connections that are kept."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, NamedTuple

import aiohttp

PASSED_ON: Final = "X-Cardquota-Passed-On"
"""Header of a call that another replica has passed on. It is passed on once."""
FAILURES: Final = (aiohttp.ClientError, TimeoutError, OSError)
"""What a call may fail with."""


class LeaderAnswer(NamedTuple):
    """What the leader says."""

    status: int
    body: bytes


class LeaderClient:
    """Posts to the leader, wherever it is now."""

    def __init__(
        self,
        leader: Callable[[], str],
        tls: Callable[[], ssl.SSLContext | None],
        *,
        server_name: str,
        timeout: float,
        secret: str = "",
    ) -> None:
        """`leader`: host and port, empty if none is known. `tls`: trusts the leader's certificate,
        and shows ours where that is asked for. `server_name`: what the leader's certificate must
        cover. `timeout`: seconds. `secret`: the segment that comes before the last one of every
        path; empty: none (N3).
        """
        self._leader = leader
        self._tls = tls
        self._server_name = server_name
        self._timeout = timeout
        self._secret = f"/{secret}" if secret else ""
        self._session: aiohttp.ClientSession | None = None

    @property
    def address(self) -> str:
        """Host and port of the leader; empty if it cannot be called now."""
        return self._leader() if self._tls() is not None else ""

    async def post(self, address: str, path: str, data: bytes, *, most: int) -> LeaderAnswer:
        """Post a JSON body. At most so many bytes of the answer are read. Raises FAILURES."""
        before, _, verb = path.rpartition("/")
        path = f"{before}{self._secret}/{verb}"
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout())
        async with (
            asyncio.timeout(self._timeout),
            self._session.post(
                f"https://{address}{path}",
                data=data,
                headers={PASSED_ON: "1", "Content-Type": "application/json"},
                ssl=self._tls() or True,
                server_hostname=self._server_name,
                allow_redirects=False,
            ) as response,
        ):
            return LeaderAnswer(response.status, await response.content.read(most))

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)
