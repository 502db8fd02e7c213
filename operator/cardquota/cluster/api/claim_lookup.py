"""Of which device classes a claim of devices is, by a read from the API server (P7).

Claims are not watched: there may be one for each pod of the cluster.
"""

import asyncio
from collections.abc import Collection
from typing import Final

import msgspec

from ...quota.limits import is_object_name
from ...quota.objects.cluster import ResourceClaim
from .api_error import ApiError, OutcomeUnknown
from .client import Client

_VERSIONS: Final = ("v1", "v1beta2", "v1beta1", "v1alpha3")
_DECODER: Final = msgspec.json.Decoder(ResourceClaim)
_TIMEOUT: Final = 1.0
"""Seconds. A review waits for the answer."""
_AT_A_TIME: Final = 16
"""Requests at once."""


class ClaimLookup:
    """Reads single claims and templates. Belongs to the event loop of its client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(_AT_A_TIME)

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
        for version in _VERSIONS:
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
                return set(_DECODER.decode(found).device_classes())
        return None
