"""Objects of which only the name is kept are read again once there is room (P8)."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from ...quota.kept_objects import KeptObjects, LeftOut
from ...quota.ledger.ledger_reader import LedgerReader
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from ..api.wire import decoder_of
from .feed import WatchedKind

_LOG = logging.getLogger(__name__)
_PAUSE: Final = 0.5
"""Seconds between two looks."""
_AT_ONCE: Final = 64
"""Objects of a kind that one look reads, one after the other."""
_TIMEOUT: Final = 2.0
"""Seconds."""


class LeftOutReads:
    """Reads from the API server what the watch has shown before, and was left out for its size.

    Guarantee: what the watch has reported gone is not brought back, and nothing older replaces what
    the watch has shown. Belongs to the ledger's event loop.
    """

    def __init__(
        self, ledger: LedgerReader, client: Client, kinds: Sequence[WatchedKind[Any]]
    ) -> None:
        by_name = {one.kind: one for one in kinds}
        self._client = client
        self._kinds: tuple[tuple[KeptObjects, WatchedKind[Any]], ...] = (
            (ledger.kept_queues, by_name["queues"]),
            (ledger.kept_groups, by_name["podgroups"]),
            (ledger.kept_pods, by_name["pods"]),
        )

    async def run(self) -> None:
        """Look for room until cancelled."""
        while True:
            await asyncio.sleep(_PAUSE)
            await self.read_some()

    async def read_some(self) -> None:
        """Read some of those for which there is room."""
        for kept, kind in self._kinds:
            for key, one in kept.to_read(_AT_ONCE):
                found = await self._read(kind, one)
                left_out = kept.left_out(key)
                if found is None or left_out != one:
                    continue
                try:
                    kind.seen(found)
                except Exception:  # noqa: BLE001
                    _LOG.exception("%s %s: not taken in", kind.kind, key)

    async def _read(self, kind: WatchedKind[Any], one: LeftOut) -> Any:
        """None: it is gone, or that is not known now."""
        root, _, plural = kind.path.rpartition("/")
        within = f"/namespaces/{one.namespace}" if one.namespace else ""
        try:
            body = await self._client.get(f"{root}{within}/{plural}/{one.name}", timeout=_TIMEOUT)
            found = decoder_of(kind.struct)(msgspec.Raw(body))
        except (ApiError, OutcomeUnknown, ValueError, RecursionError) as error:
            _LOG.info("reading %s %s/%s again: %s", kind.kind, one.namespace, one.name, error)
            return None
        return found if found.metadata.uid == one.uid else None
