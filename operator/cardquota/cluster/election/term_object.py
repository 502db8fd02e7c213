"""The Term: which leader's decisions the API server accepts. It is read, and written under its
revision.
"""

from typing import Any, Final

import msgspec

from ...quota import vocabulary as v
from ..api.client import Client, get_if_there
from .lease import LeaseMeta

_VERSION: Final = f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}"


class _TermSpec(msgspec.Struct):
    term: str = ""


class _TermStatus(msgspec.Struct):
    fault: str | None = None


class StoredTerm(msgspec.Struct):
    """What of it is read."""

    metadata: LeaseMeta
    spec: _TermSpec
    status: _TermStatus | None = None

    def says(self, term: str, fault: str) -> bool:
        """Whether there is nothing to be written."""
        return (self.spec.term, (self.status and self.status.fault) or "") == (term, fault)


_decode = msgspec.json.Decoder(StoredTerm).decode


class TermObject:
    """Reads and writes one Term. Timeouts in seconds.

    Guarantee: a write takes effect only if the object is as it was read, or still missing.
    Errors: ApiError (409: it has changed; 404: also if there is no such kind), OutcomeUnknown,
    msgspec.MsgspecError.
    """

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._collection = f"/apis/{_VERSION}/namespaces/{namespace}/{v.TERMS}"
        self._name = name

    async def read(self, timeout: float) -> StoredTerm | None:
        """A quorum read. None: there is no such object, or no such kind."""
        found = await get_if_there(self._client, self._path, timeout)
        return None if found is None else _decode(found)

    async def write(self, stored: StoredTerm | None, term: str, fault: str, timeout: float) -> None:
        """Have it name a term, and the fault that its leader has found."""
        metadata: dict[str, str] = {"name": self._name}
        body: dict[str, Any] = {
            "apiVersion": _VERSION,
            "kind": v.TERM_KIND,
            "metadata": metadata,
            "spec": {"term": term},
            "status": {"fault": fault or None},
        }
        if stored is None:
            body["status"] = {"fault": fault} if fault else {}
            await self._client.post(self._collection, body, timeout=timeout)
            return
        metadata["uid"] = stored.metadata.uid
        metadata["resourceVersion"] = stored.metadata.resource_version
        await self._client.patch(self._path, body, timeout=timeout)

    @property
    def _path(self) -> str:
        return f"{self._collection}/{self._name}"
