"""All objects of a kind as they are now, page by page: to look once, without a watch."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import msgspec

from ..api.backoff import Backoff
from ..api.client import Client
from ..api.wire import IdentityMeta, PartialObjectMetadata, decode_identity, decoder_of
from .page import read_page

T = TypeVar("T", bound=msgspec.Struct)
_ALL: Final[Mapping[str, str]] = MappingProxyType({})


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
) -> AsyncIterator[T | Unreadable]:
    """The objects of a collection in the API server's order, which is by name.

    `selector`: `labelSelector` or `fieldSelector`, as parameters of the request.

    Guarantees: one bad object never keeps the others from being returned; at most one page is held
    at a time. Not guaranteed: that all is of one moment if a page must be requested again. Then it
    fails rather than leave anything out.
    Errors: ApiError, OutcomeUnknown, and msgspec's if the answer is no list.
    """
    decode: Callable[[msgspec.Raw], T] = decoder_of(cast("type[Any]", struct))
    params = {**selector, "limit": str(page_size)}
    while True:
        page = await read_page(client, path, params, Backoff())
        for raw in page.items or ():
            try:
                found: T | Unreadable = decode(raw)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                about = _identity(raw)
                found = Unreadable(about.name, str(error), about.namespace)
            yield found
        if not page.metadata.continue_:
            return
        params["continue"] = page.metadata.continue_


def _identity(raw: msgspec.Raw) -> IdentityMeta:
    try:
        found: PartialObjectMetadata = decode_identity(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return IdentityMeta()
    return found.metadata
