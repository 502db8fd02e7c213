"""Wakes waiters for the Lease as soon as it has no holder any more."""

import asyncio
import logging
from collections.abc import Callable

import aiohttp
import msgspec

from ..api import wire
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.backoff import Backoff
from ..api.client import Client
from ..api.connection_error import in_words
from ..api.line_splitter import LineSplitter
from .lease import Lease

log = logging.getLogger(__name__)

_SECONDS = 300
"""How long one stream lasts."""
_SILENCE = 30.0
"""Seconds of silence after which a stream counts as dead: a held Lease is renewed all the time."""


class LeaseWatch:
    """Follows one Lease.

    Only a hint: it may come late, twice, never, or be outdated when it comes. The waiter reads the
    Lease itself, and reads it now and then without a hint. Not a reflector: nothing is kept, so
    nothing must be listed, and a missed event is no loss.
    """

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name

    async def run(self, freed: Callable[[], None]) -> None:
        """Call `freed` whenever the Lease was given up or deleted, until cancelled. Also whenever a
        stream begins, which does not show what happened before.
        """
        backoff = Backoff(first=1.0)
        while True:
            try:
                await self._follow(freed, backoff)
            except (ApiError, OutcomeUnknown) as error:
                log.debug("watching the Lease: %s", error)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                log.debug("watching the Lease: stream lost: %s", in_words(error))
            except msgspec.MsgspecError as error:
                log.warning("watching the Lease: %s", error)
            await asyncio.sleep(backoff.next())

    async def _follow(self, freed: Callable[[], None], backoff: Backoff) -> None:
        # Without a revision: the stream begins with the present Lease.
        params = {"fieldSelector": f"metadata.name={self._name}", "timeoutSeconds": str(_SECONDS)}
        splitter = LineSplitter()
        async with self._client.watch(self._path, params=params, read_timeout=_SILENCE) as response:
            freed()
            async for chunk in response.content.iter_any():
                for line in splitter.feed(chunk):
                    if _is_free(wire.decode_event(line)):
                        freed()
                    backoff.reset()


def _is_free(event: wire.WatchEvent) -> bool:
    if event.type == wire.DELETED:
        return True
    if event.type not in (wire.ADDED, wire.MODIFIED):
        return False
    return not msgspec.json.decode(event.object, type=Lease).holder
