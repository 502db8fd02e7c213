"""The extender, called as kube-scheduler calls it: over TLS, with the client certificate."""

import asyncio
import json
import ssl
from collections.abc import Iterable
from time import monotonic
from typing import Any, Final, Self

import aiohttp

from cardquota_dev.testing import Cluster
from integration.extender.shared_cards import SERVICE, extender_address

from .crowd import each

_PATIENCE: Final = 60.0
_POLL: Final = 0.05


class ExtenderClient:
    """Calls one replica. Connections are kept."""

    def __init__(self, cluster: Cluster, replica: int = 0) -> None:
        assert cluster.folder is not None
        files = cluster.folder.extender
        self._address = extender_address(cluster, replica)
        self._tls = ssl.create_default_context(cafile=str(files / "ca.crt"))
        self._tls.load_cert_chain(files / "tls.crt", files / "tls.key")

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            self._address, connector=aiohttp.TCPConnector(limit=0, ssl=self._tls)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def bind(self, body: bytes) -> None:
        """Post a bind. Whatever is refused ends the benchmark."""
        async with self._session.post(
            "/scheduler/bind",
            data=body,
            headers={"Content-Type": "application/json"},
            server_hostname=SERVICE,
        ) as answer:
            said = await answer.read()
            if answer.status != 200 or json.loads(said)["Error"]:
                raise RuntimeError(f"bind: {answer.status} {said!r}")

    async def bind_all(self, bodies: Iterable[bytes], at_a_time: int) -> float:
        """Seconds from the first bind to the last answer."""
        return await each(self.bind, bodies, at_a_time)

    async def until_known(self, nodes: int, pending: int) -> None:
        """Return once the replica knows so many nodes that share cards, and so many pods that
        wait, and holds nothing.
        """
        deadline = monotonic() + _PATIENCE
        while True:
            report = await self._inspect()
            held = any(card["used"] for row in report["nodes"] for card in row["cards"])
            if (len(report["nodes"]), len(report["pending"]), held) == (nodes, pending, False):
                return
            if monotonic() > deadline:
                raise RuntimeError(f"the replica knows {len(report['nodes'])} nodes, {held=}")
            await asyncio.sleep(_POLL)

    async def _inspect(self) -> Any:
        async with self._session.get("/inspect", server_hostname=SERVICE) as answer:
            return json.loads(await answer.read())
