"""All objects of a kind as they are now, page by page: to look once, without a watch."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from ..api.backoff import Backoff
from ..api.client import Client
from ..api.wire import PartialObjectMetadata, decode_identity
from .page import read_page

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object that exists but does not have the form of its kind."""

    name: str
    """Empty if not even that can be read."""
    error: str


async def list_objects(
    client: Client, path: str, struct: type[T], *, page_size: int = 500
) -> AsyncIterator[T | Unreadable]:
    """The objects of a collection in the API server's order, which is by name.

    Guarantees: one bad object never keeps the others from being returned; at most one page is held
    at a time. Not guaranteed: that all is of one moment if a page must be requested again. Then it
    fails rather than leave anything out.
    Errors: ApiError, OutcomeUnknown, and msgspec's if the answer is no list.
    """
    decode = msgspec.json.Decoder(struct).decode
    params = {"limit": str(page_size)}
    while True:
        page = await read_page(client, path, params, Backoff())
        for raw in page.items or ():
            try:
                found: T | Unreadable = decode(raw)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                found = Unreadable(_name(raw), str(error))
            yield found
        if not page.metadata.continue_:
            return
        params["continue"] = page.metadata.continue_


def _name(raw: msgspec.Raw) -> str:
    try:
        found: PartialObjectMetadata = decode_identity(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    return found.metadata.name
