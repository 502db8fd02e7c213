"""All objects of a kind as they are now, page by page: to look once, without a watch."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import msgspec

from ..api import wire
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from ..api.clock import Backoff
from ..api.wire import Page, decoder_of, identity_of

log = logging.getLogger(__name__)

OVERLOAD = frozenset({429, 503, 504})
"""Answers that a list from the start would only make worse."""
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


T = TypeVar("T", bound=msgspec.Struct)
_ALL: Final[Mapping[str, str]] = MappingProxyType({})
_IN_BETWEEN: Final = 25
"""Objects that are read without giving way, where the next page is on its way."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object that exists but does not have the form of its kind."""

    name: str
    """Empty if not even that can be read."""
    error: str
    namespace: str = ""


async def list_objects(
    client: Client,
    path: str,
    struct: type[T],
    *,
    page_size: int = 500,
    selector: Mapping[str, str] = _ALL,
    ahead: bool = False,
    look: Callable[[msgspec.Raw], None] | None = None,
) -> AsyncGenerator[T | Unreadable, None]:
    """The objects of a collection in the API server's order, which is by name.

    `selector`: `labelSelector` or `fieldSelector`, as parameters of the request. `ahead`: each page
    is requested while the one before is read. For whoever reads all of it, and closes the iterator
    if not. `look` sees each object as it came, before it is read; it is not to keep it.

    Guarantees: one bad object never keeps the others from being returned; at most one page is held
    at a time, and another if `ahead`. Not guaranteed: that all is of one moment if a page must be
    requested again. Then it fails rather than leave anything out.
    Errors: ApiError, OutcomeUnknown, and msgspec's if the answer is no list.
    """
    decode: Callable[[msgspec.Raw], T] = decoder_of(cast("type[Any]", struct))
    params = {**selector, "limit": str(page_size)}
    coming: asyncio.Task[Page] | None = None
    try:
        while True:
            page = await (coming or read_page(client, path, params, Backoff()))
            coming, token = None, page.metadata.continue_
            params["continue"] = token
            if ahead and token:
                coming = asyncio.create_task(read_page(client, path, dict(params), Backoff()))
            for number, raw in enumerate(page.items or ()):
                if ahead and not number % _IN_BETWEEN:
                    await asyncio.sleep(0)  # the request, and its answer, go on
                if look is not None:
                    look(raw)
                try:
                    found: T | Unreadable = decode(raw)
                except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                    about = identity_of(raw)
                    found = Unreadable(about.name, str(error), about.namespace)
                yield found
            if not token:
                return
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
