"""What audit mode would have refused, or made wait: kept for a day, by queue and namespace.

Every replica counts the pods whose create it reviewed, and adds what is new to one ConfigMap. So
the counts of all replicas are in one place, and a restart loses half a minute of them at most.
They are answers, not pods: another webhook or a ResourceQuota may refuse the same pod afterwards.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client, get_if_there
from ..metrics import Metrics
from ..quota.reports.audit_counts import Audited, Counts, counted, hour_of, merged, too_old
from ..quota.verdict import Effect
from ..quota.vocabulary import AUDIT_RECORD

_LOG = logging.getLogger(__name__)
_EVERY: Final = 30.0
"""Seconds between two writes. The first is made at once, and none if nothing is new."""
_TIMEOUT: Final = 3.0
"""Seconds for each request: the last write is made while the process ends."""
_MOST_LABELS: Final = 1_000
"""Rows of the metric, for each replica."""


class _Version(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Stored(msgspec.Struct):
    metadata: _Version = msgspec.field(default_factory=_Version)
    data: dict[str, str] = msgspec.field(default_factory=dict)


class AuditRecord:
    """Counts, and writes what it has counted. Belongs to one loop."""

    def __init__(
        self, client: Client, namespace: str, metrics: Metrics, now: Callable[[], float]
    ) -> None:
        """`namespace`: the operator's own. `now`: seconds since the epoch."""
        self._client = client
        self._metrics = metrics.audited_pods
        self._now = now
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._new = Counts()
        self._all = Counts()
        self._any = asyncio.Event()

    def note(self, queue: str, namespace: str, effect: Effect) -> None:
        """A pod was let by that would have been refused (DENY), or gated without room (GATE)."""
        row = Audited(queue, namespace, effect)
        counted(self._new, row)
        self._metrics.labels(*counted(self._all, row, most=_MOST_LABELS)).inc()
        self._any.set()

    async def run(self) -> None:
        """Write again and again, until cancelled, and a last time then."""
        try:
            while True:
                await self._any.wait()
                await self.write()
                await asyncio.sleep(_EVERY)
        finally:
            await self.write()

    async def write(self) -> None:
        """Add what is new to the record. Never raises: what was not written is kept for next time,
        and so is what was sent without an answer, which may count twice then.
        """
        if not self._new:
            return
        self._any.clear()
        sent, self._new = self._new, Counts()
        try:
            await self._add(sent)
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            _LOG.info("ConfigMap %s is not written: %s", AUDIT_RECORD, error)
            for row, number in sent.items():
                counted(self._new, row, number)
            self._any.set()

    async def _add(self, new: Counts) -> None:
        path = f"{self._path}/{AUDIT_RECORD}"
        now = self._now()
        hour = hour_of(now)
        stored = await get_if_there(self._client, path, _TIMEOUT)
        if stored is None:
            meta = {"name": AUDIT_RECORD, "labels": {"app.kubernetes.io/name": "cardquota"}}
            data = {hour: merged("", new)}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
            await self._client.post(self._path, body, timeout=_TIMEOUT)
            return
        record = msgspec.json.decode(stored, type=_Stored)
        changed: dict[str, Any] = dict.fromkeys(too_old(record.data, now))
        changed[hour] = merged(record.data.get(hour, ""), new)
        # Two replicas may write at once: then one of them is refused, and tries again.
        precondition = {"resourceVersion": record.metadata.resource_version}
        body = {"metadata": precondition, "data": changed}
        await self._client.patch(path, body, timeout=_TIMEOUT)
