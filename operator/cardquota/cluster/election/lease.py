"""The Lease: the fields that are read, and its writes under its revision."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from ...quota.vocabulary import ENQUEUE_ADDRESS, EXTENDER_ADDRESS, HANDOVER
from ..api.client import Client, get_if_there


class LeaseSpec(msgspec.Struct, rename="camel"):
    """Its holder and duration. Who leads never depends on the times: they are for people, and say
    until when a former leader has surely lived.
    """

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None
    renew_time: str | None = None


class LeaseMeta(msgspec.Struct, rename="camel"):
    """Which Lease, at which revision."""

    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Lease(msgspec.Struct):
    """A coordination.k8s.io/v1 Lease."""

    metadata: LeaseMeta
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


_decode = msgspec.json.Decoder(Lease).decode


class LeaseObject:
    """Reads and writes one Lease. Timeouts in seconds.

    Guarantees: a write takes effect only if the Lease is still at the revision that was read, or
    still does not exist if there was none. Other fields on it stay.
    Errors: ApiError (409: it has changed), OutcomeUnknown, msgspec.MsgspecError.
    """

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name

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
            left = dict.fromkeys((HANDOVER, EXTENDER_ADDRESS, ENQUEUE_ADDRESS))
            notes = {**left, **{key: found or None for key, found in addresses.items()}}
            return await self._patch(lease, spec, notes, timeout)
        metadata: dict[str, object] = {"name": self._name}
        if written := {key: found for key, found in addresses.items() if found}:
            metadata["annotations"] = written
        body = {"metadata": metadata, "spec": spec}
        return _decode(await self._client.post(self._collection, body, timeout=timeout))

    async def renew(self, lease: Lease, timeout: float) -> Lease:
        """Show that the holder is alive. It always changes the Lease, so the revision moves."""
        return await self._patch(lease, {"renewTime": _now()}, None, timeout)

    async def release(
        self, lease: Lease, annotations: Mapping[str, str] | None, timeout: float
    ) -> Lease:
        """Give it up, and put `annotations` on it."""
        spec = {"holderIdentity": "", "renewTime": _now()}
        return await self._patch(lease, spec, annotations, timeout)

    async def _patch(
        self,
        lease: Lease,
        spec: Mapping[str, object],
        annotations: Mapping[str, str | None] | None,
        timeout: float,
    ) -> Lease:
        metadata: dict[str, object] = {
            "uid": lease.metadata.uid,
            "resourceVersion": lease.metadata.resource_version,
        }
        if annotations:
            metadata["annotations"] = dict(annotations)
        body = {"metadata": metadata, "spec": spec}
        return _decode(await self._client.patch(self._path, body, timeout=timeout))

    @property
    def _path(self) -> str:
        return f"{self._collection}/{self._name}"


def _now() -> str:
    # MicroTime requires six digits, even if they are zeros.
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


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
