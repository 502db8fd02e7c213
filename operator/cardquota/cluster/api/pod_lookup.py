"""One pod that a label selector selects, by a read from the API server.

Labels of pods are not kept. They are needed only for scalable objects of which nothing else is
known.
"""

import asyncio
import logging
import re
from typing import Final

from ...quota.objects.pod import Pod
from .api_error import ApiError, OutcomeUnknown
from .client import Client
from .wire import decode_page

_LOG = logging.getLogger(__name__)
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_LONGEST: Final = 1_024
"""Characters of a selector that is looked for."""
_TIMEOUT: Final = 1.0
"""Seconds. A review waits for the answer."""
_AT_A_TIME: Final = 4
"""Requests at once: the API server compares all pods of a namespace for each."""


class PodLookup:
    """Looks up single pods. Belongs to the event loop of its client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(_AT_A_TIME)

    async def one(self, namespace: str, selector: str) -> Pod | None:
        """Some pod; None if there is none, or that is not known within a second."""
        if not _NAMESPACE.fullmatch(namespace) or not 0 < len(selector) <= _LONGEST:
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
