"""Whether a queue exists, by a read from the API server: for a queue that the watch has not shown.

A watch may lag as long as the API server is busy; a read does not.
"""

import asyncio
import logging
import re
from typing import Final

from .api_error import ApiError, OutcomeUnknown
from .client import Client

_LOG = logging.getLogger(__name__)
_QUEUES: Final = "/apis/scheduling.volcano.sh/v1beta1/queues"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
"""A Queue can have no other name, so no request is sent for others."""
_TIMEOUT: Final = 1.0
"""Seconds. A review waits for the answer."""
_AT_A_TIME: Final = 32
"""Requests at once. A controller that keeps creating pods in a missing queue delays no others."""


class QueueLookup:
    """Looks up single queues. Belongs to the event loop of its client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(_AT_A_TIME)

    async def exists(self, name: str) -> bool | None:
        """Whether there is a queue of this name now; None if that is not known within a second."""
        if not _NAME.fullmatch(name):
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
