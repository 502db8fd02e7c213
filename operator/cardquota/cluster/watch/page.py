"""One page of a list, from an API server that may be busy."""

import asyncio
import logging
from collections.abc import Mapping

from ..api import wire
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.backoff import Backoff
from ..api.client import Client
from .resume_policy import OVERLOAD

log = logging.getLogger(__name__)

_TIMEOUT = 60.0
"""Seconds for one page."""
_TRIES = 6
"""For one page. The API server keeps the token of the next page for minutes."""


async def read_page(
    client: Client, path: str, params: Mapping[str, str], backoff: Backoff
) -> wire.Page:
    """One page. A page that follows another is requested again while the API server is busy.

    100,000 pods are 200 pages. A list that restarts whenever one of them fails may never end, and
    is the worst load for a busy API server. Errors: ApiError, OutcomeUnknown, msgspec's.
    """
    for left in reversed(range(_TRIES if "continue" in params else 1)):
        try:
            return wire.decode_page(await client.get(path, params=params, timeout=_TIMEOUT))
        except (ApiError, OutcomeUnknown) as error:
            if not left or (isinstance(error, ApiError) and error.status not in OVERLOAD):
                raise
            log.warning("a page of %s: %s", path, error)
            retry_after = error.retry_after
        await asyncio.sleep(backoff.next(retry_after))
    raise AssertionError("unreachable")  # the last try returns or raises
