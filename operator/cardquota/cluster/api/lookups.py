"""Single objects, by reads from the API server: what the watches do not show, or not yet.

A watch may lag as long as the API server is busy; a read does not. A review waits for each, so a
read has one second, and only so many are sent at once: whoever keeps asking delays no others.
"""

import asyncio
import logging
import re
from collections.abc import Collection
from typing import Final

import msgspec

from ...quota.limits import is_object_name
from ...quota.objects.cluster import ResourceClaim
from ...quota.objects.pod import Pod
from .api_error import ApiError, OutcomeUnknown
from .client import Client
from .wire import decode_page

_LOG = logging.getLogger(__name__)
_TIMEOUT: Final = 1.0
"""Seconds."""
_QUEUES: Final = "/apis/scheduling.volcano.sh/v1beta1/queues"
_CLAIM_VERSIONS: Final = ("v1", "v1beta2", "v1beta1", "v1alpha3")
_CLAIMS: Final = msgspec.json.Decoder(ResourceClaim)
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_LONGEST_SELECTOR: Final = 1_024
"""Characters of a selector that is looked for."""


class _Lookup:
    """Belongs to the event loop of its client."""

    at_a_time: int

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(self.at_a_time)


class QueueLookup(_Lookup):
    """Whether a queue exists."""

    at_a_time = 32

    async def exists(self, name: str) -> bool | None:
        """Whether there is a queue of this name now; None if that is not known within a second."""
        if not is_object_name(name):
            return False
        try:
            async with asyncio.timeout(_TIMEOUT), self._turns:
                await self._client.get(f"{_QUEUES}/{name}", timeout=_TIMEOUT)
        except ApiError as error:
            if error.status == 404:
                return False
            _LOG.warning("asking for Queue <%s>: %s", name, error)
        except (OutcomeUnknown, TimeoutError) as error:
            _LOG.info("asking for Queue <%s>: %s", name, str(error) or "no answer in time")
        else:
            return True
        return None


class ClaimLookup(_Lookup):
    """Of which device classes a claim of devices is (P7).

    Claims are not watched: there may be one for each pod of the cluster.
    """

    at_a_time = 16

    async def classes(self, namespace: str, kind: str, name: str) -> Collection[str] | None:
        """The device classes of a claim or a template. None: there is none of this name.

        Raises LookupError if that is not known within a second.
        """
        if not is_object_name(name):
            return None
        try:
            async with asyncio.timeout(_TIMEOUT), self._turns:
                return await self._read(f"namespaces/{namespace}/{kind.lower()}s", name)
        except (ApiError, OutcomeUnknown, TimeoutError, ValueError, RecursionError) as error:
            raise LookupError(str(error) or "no answer in time") from None

    async def _read(self, path: str, name: str) -> Collection[str] | None:
        """From the first version that is served: no API server has all of them."""
        for version in _CLAIM_VERSIONS:
            try:
                found = await self._client.get(
                    f"/apis/resource.k8s.io/{version}/{path}/{name}", timeout=_TIMEOUT
                )
            except ApiError as error:
                if error.status != 404:
                    raise
                if f'"{name}"' in error.message:
                    return None  # of a version that is not served the answer names no object
            else:
                return set(_CLAIMS.decode(found).device_classes())
        return None


class PodLookup(_Lookup):
    """One pod that a label selector selects. Labels of pods are not kept: they are needed only for
    scalable objects of which nothing else is known.
    """

    at_a_time = 4
    """The API server compares all pods of a namespace for each."""

    async def one(self, namespace: str, selector: str) -> Pod | None:
        """Some pod; None if there is none, or that is not known within a second."""
        if not _NAMESPACE.fullmatch(namespace) or not 0 < len(selector) <= _LONGEST_SELECTOR:
            return None
        if self._turns.locked():
            return None
        path, params = f"/api/v1/namespaces/{namespace}/pods", {"limit": "1"}
        try:
            async with asyncio.timeout(_TIMEOUT), self._turns:
                found = await self._client.get(
                    path, params={**params, "labelSelector": selector}, timeout=_TIMEOUT
                )
            items = decode_page(found).items
            return Pod.decode(items[0]) if items else None
        except (ApiError, OutcomeUnknown, TimeoutError, ValueError, RecursionError) as error:
            _LOG.info("asking for a pod of a scaled object: %s", str(error) or "no answer in time")
            return None
