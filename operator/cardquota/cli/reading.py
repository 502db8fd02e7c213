"""What a command reads of the cluster, with the user's own rights."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec
import typer

from ..cluster.api.access import AccessError, find_access
from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..cluster.watch.listing import Unreadable, list_objects
from ..quota.words import show
from .output import ClusterChoice
from .printing import failed

T = TypeVar("T", bound=msgspec.Struct)
R = TypeVar("R")
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
_NOT_ALLOWED: Final = (401, FORBIDDEN)
_ALL: Final[Mapping[str, str]] = MappingProxyType({})
_REFUSED: Final = re.compile(r"(401|403)\b[^:]{0,40}: ")
"""How ApiError begins of who is not known, or may not."""
_CALL: Final = re.compile(r"(?:GET|POST) [^ ]{1,2000}: (?:[A-Z][A-Za-z]*Error: )?")
"""How OutcomeUnknown begins: with the request, and the name of an exception."""


class ClusterError(Exception):
    """The cluster did not answer the request. The text is one line for the user.

    `__cause__`: what the API server, or the connection to it, said.
    """

    @property
    def status(self) -> int:
        """The API server's status; 0 if it gave none."""
        return self.__cause__.status if isinstance(self.__cause__, ApiError) else 0


def done(reading: Coroutine[Any, Any, R]) -> R:
    """What was read. Else says why not, and raises typer.Exit: 1, or 2 without a cluster."""
    try:
        return asyncio.run(reading)
    except (AccessError, ClusterError) as error:
        raise typer.Exit(failed(error)) from None


@asynccontextmanager
async def client_of(cluster: ClusterChoice) -> AsyncIterator[Client]:
    """A client for as long as it is needed. Errors: AccessError."""
    client = Client(await find_access(*cluster))
    try:
        yield client
    finally:
        await client.close()


async def listed(
    client: Client,
    path: str,
    struct: type[T],
    *,
    selector: Mapping[str, str] = _ALL,
    ahead: bool = False,
    look: Callable[[msgspec.Raw], None] | None = None,
) -> AsyncGenerator[T | Unreadable, None]:
    """As `list_objects`, with ClusterError alone as error."""
    what = path.rpartition("/")[2]
    every = list_objects(client, path, struct, selector=selector, ahead=ahead, look=look)
    try:
        async with aclosing(every) as found:
            async for one in found:
                yield one
    except (ApiError, OutcomeUnknown) as error:
        raise ClusterError(not_listed(what, str(error))) from error
    except msgspec.MsgspecError as error:
        no_list = "the answer is not a list of Kubernetes objects"
        raise ClusterError(not_listed(what, no_list)) from error


@dataclass(frozen=True, slots=True)
class NotRead:
    """It may be there; `why`: in words for people."""

    why: str


Answer = Mapping[str, Any] | NotRead | None
"""None: there is no such object."""


async def read_object(client: Client, path: str, what: str) -> Answer:
    """`what`: the object, in words. Errors: ClusterError, if it is not about this object."""
    try:
        found = msgspec.json.decode(await client.get(path))
    except ApiError as error:
        if error.status == NOT_FOUND:
            return None
        if error.status not in _NOT_ALLOWED:
            raise ClusterError(not_read(what, str(error))) from error
        return NotRead(not_read(what, str(error)))
    except OutcomeUnknown as error:
        raise ClusterError(not_read(what, str(error))) from error
    except msgspec.MsgspecError:
        found = None
    return found if isinstance(found, dict) else NotRead(not_read(what, "no object"))


def inner(parent: object, *keys: str) -> Any:
    """What stands in an object of any form under these keys; None if nothing does."""
    for key in keys:
        parent = parent.get(key) if isinstance(parent, dict) else None
    return parent


def not_listed(what: str, reason: str) -> str:
    """The API server does not list them. `reason`: the text of ApiError or OutcomeUnknown."""
    refused = _REFUSED.match(reason)
    if refused is not None and refused[1] == "403":
        return f"you may not list {what}: {reason[refused.end() :]}"
    if refused is not None:
        return f"cannot list {what}: {reason} (the API server does not accept your credentials)"
    return f"cannot list {what}: {without_call(reason)}"


def not_read(what: str, reason: str) -> str:
    """One object may not be read. `reason`: the text of ApiError or OutcomeUnknown."""
    refused = _REFUSED.match(reason)
    if refused is not None and refused[1] == "403":
        return f"you may not read {what}: {reason[refused.end() :]}"
    return f"cannot read {what}: {without_call(reason)}"


def without_call(reason: str) -> str:
    """The text of OutcomeUnknown without what was called, and without the name of a class."""
    return _CALL.sub("", reason, count=1)


def no_namespace(name: str) -> str:
    """Nothing can be created in it, or asked about it."""
    return f"namespace <{show(name)}> does not exist"


def without_row(resource: str) -> str:
    """A card is known only by the plain rule, which the API server does not know."""
    return (
        f"{resource} is in no vendor row: the webhook does not see pods that ask for it and carry "
        "no annotation, even if their namespace has a queue, unless it is labelled `enforced`; add "
        "a row to `vendors` in the configuration, then apply the output of `cardquota manifests`"
    )
