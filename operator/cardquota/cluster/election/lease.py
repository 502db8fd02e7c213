"""The Lease and the Term: the fields that are read, writes under the revision that was read, and a
watch for changes of the Lease.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

import aiohttp
import msgspec

from ...loop.timing import Backoff
from ...quota import vocabulary as v
from ..api.api_error import ApiError, OutcomeUnknown, in_words
from ..api.client import Client, get_if_there
from ..watch.delivery import ADDED, DELETED, MODIFIED, LineSplitter, WatchEvent, decode_event
from ..writes import WrittenObject

log = logging.getLogger(__name__)

_SECONDS = 300
"""How long one stream lasts."""
_SILENCE = 30.0
"""Seconds of silence after which a stream counts as dead: a held Lease is renewed all the time."""

_VERSION: Final = f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}"


class LeaseSpec(msgspec.Struct, rename="camel"):
    """Its holder and duration. Who leads never depends on the times: they are for people, and say
    until when a former leader has surely lived.
    """

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None


class Lease(WrittenObject):
    """A coordination.k8s.io/v1 Lease."""

    spec: LeaseSpec

    @property
    def revision(self) -> tuple[str, str]:
        """Differs after every write, also if it was deleted and created again."""
        return self.metadata.uid, self.metadata.resource_version

    @property
    def holder(self) -> str:
        """The term it is held under; empty if it has no holder."""
        return self.spec.holder_identity or ""

    @property
    def duration(self) -> float:
        """Seconds it must be seen unchanged before another may take it; 0 if it has none."""
        return float(self.spec.lease_duration_seconds or 0)


class _TermSpec(msgspec.Struct):
    term: str = ""


class _TermStatus(msgspec.Struct):
    fault: str | None = None


class StoredTerm(WrittenObject):
    """What of it is read."""

    spec: _TermSpec
    status: _TermStatus | None = None

    def says(self, term: str, fault: str) -> bool:
        """Whether there is nothing to be written."""
        return (self.spec.term, (self.status and self.status.fault) or "") == (term, fault)


_decode = msgspec.json.Decoder(Lease).decode
_decode_term = msgspec.json.Decoder(StoredTerm).decode


class _StoredObject:
    """One object, read, and written under the revision that was read. Timeouts in seconds.

    Guarantee: a write takes effect only if the object is still as it was read, or still missing.
    Errors: ApiError (409: it has changed; 404: also if there is no such kind), OutcomeUnknown,
    msgspec.MsgspecError.
    """

    def __init__(self, client: Client, collection: str, name: str) -> None:
        self._client = client
        self._collection = collection
        self._name = name
        self._path = f"{collection}/{name}"

    async def _patch(
        self,
        stored: Lease | StoredTerm,
        body: Mapping[str, object],
        timeout: float,
        annotations: Mapping[str, str | None] | None = None,
    ) -> bytes:
        metadata: dict[str, object] = {
            "uid": stored.metadata.uid,
            "resourceVersion": stored.metadata.resource_version,
        }
        if annotations:
            metadata["annotations"] = dict(annotations)
        return await self._client.patch(self._path, {"metadata": metadata, **body}, timeout=timeout)


class LeaseObject(_StoredObject):
    """Reads, writes and follows one Lease. Other fields on it stay."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        super().__init__(
            client, f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", name
        )

    async def read(self, timeout: float) -> Lease | None:
        """A quorum read; None if there is no Lease."""
        found = await get_if_there(self._client, self._path, timeout)
        return None if found is None else _decode(found)

    async def take(
        self,
        lease: Lease | None,
        term: str,
        duration: float,
        timeout: float,
        addresses: Mapping[str, str],
    ) -> Lease:
        """Hold it from now on under `term`. What the last holder left on it is removed.

        `addresses`: where this replica can be called, by annotation; empty: nowhere.
        """
        now = _now()
        spec = {
            "holderIdentity": term,
            "leaseDurationSeconds": max(1, math.ceil(duration)),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": (lease.spec.lease_transitions or 0) + 1 if lease else 0,
        }
        if lease is not None:
            left = dict.fromkeys((v.HANDOVER, v.EXTENDER_ADDRESS, v.ENQUEUE_ADDRESS))
            notes = {**left, **{key: found or None for key, found in addresses.items()}}
            return _decode(await self._patch(lease, {"spec": spec}, timeout, notes))
        metadata: dict[str, object] = {"name": self._name}
        if written := {key: found for key, found in addresses.items() if found}:
            metadata["annotations"] = written
        body = {"metadata": metadata, "spec": spec}
        return _decode(await self._client.post(self._collection, body, timeout=timeout))

    async def renew(self, lease: Lease, timeout: float) -> Lease:
        """Show that the holder is alive. It always changes the Lease, so the revision moves."""
        spec = {"renewTime": _now()}
        return _decode(await self._patch(lease, {"spec": spec}, timeout))

    async def release(
        self, lease: Lease, annotations: Mapping[str, str] | None, timeout: float
    ) -> Lease:
        """Give it up, and put `annotations` on it."""
        spec = {"holderIdentity": "", "renewTime": _now()}
        return _decode(await self._patch(lease, {"spec": spec}, timeout, annotations))

    async def watch(self, freed: Callable[[], None]) -> None:
        """Call `freed` whenever the Lease was given up or deleted, until cancelled. Also whenever a
        stream begins, which does not show what happened before.

        Only a hint: it may come late, twice, never, or be outdated when it comes. The waiter reads
        the Lease itself, and reads it now and then without a hint. Not a reflector: nothing is
        kept, so nothing must be listed, and a missed event is no loss.
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
        async with self._client.watch(
            self._collection, params=params, read_timeout=_SILENCE
        ) as response:
            freed()
            async for chunk in response.content.iter_any():
                for line in splitter.feed(chunk):
                    if _is_free(decode_event(line)):
                        freed()
                    backoff.reset()


class TermObject(_StoredObject):
    """Reads and writes one Term: which leader's decisions the API server accepts."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        super().__init__(client, f"/apis/{_VERSION}/namespaces/{namespace}/{v.TERMS}", name)

    async def read(self, timeout: float) -> StoredTerm | None:
        """A quorum read. None: there is no such object, or no such kind."""
        found = await get_if_there(self._client, self._path, timeout)
        return None if found is None else _decode_term(found)

    async def write(self, stored: StoredTerm | None, term: str, fault: str, timeout: float) -> None:
        """Have it name a term, and the fault that its leader has found."""
        spec = {"term": term}
        if stored is not None:
            await self._patch(stored, {"spec": spec, "status": {"fault": fault or None}}, timeout)
            return
        body = {
            "apiVersion": _VERSION,
            "kind": v.TERM_KIND,
            "metadata": {"name": self._name},
            "spec": spec,
            "status": {"fault": fault} if fault else {},
        }
        await self._client.post(self._collection, body, timeout=timeout)


def _now() -> str:
    # MicroTime requires six digits, even if they are zeros.
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _is_free(event: WatchEvent) -> bool:
    if event.type == DELETED:
        return True
    if event.type not in (ADDED, MODIFIED):
        return False
    return not msgspec.json.decode(event.object, type=Lease).holder


Revisions = Mapping[str, int]
"""What a leader that leaves in order writes on the Lease: by kind, the resourceVersion up to which
it had seen everything. The write that gives the Lease up puts it there, and the write that takes
the Lease removes it. So it is always about the last term.
"""

_DECODE = msgspec.json.Decoder(dict[str, int]).decode


def handover_text(revisions: Revisions) -> str:
    """The value of the annotation."""
    return msgspec.json.encode(dict(sorted(revisions.items()))).decode()


def read_handover(text: str | None) -> Revisions | None:
    """The inverse. None if we cannot have written the text."""
    if not text:
        return None
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, RecursionError):
        return None
