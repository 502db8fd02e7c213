"""Reads of what the watches do not show, or not yet: all objects of a kind as they are now, page by
page, and single objects.

A watch may lag as long as the API server is busy; a read does not. A review waits for a single
object, so its read has one second, and only so many are sent at once: whoever keeps asking delays
no others.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import msgspec

from ...loop.timing import Backoff
from ...quota.limits import is_object_name
from ...quota.objects.cluster import ResourceClaim
from ...quota.objects.pod import Pod
from ...quota.words import logged, show
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from .delivery import Page, decode_page, decoder_of, identity_of

log = logging.getLogger(__name__)

OVERLOAD = frozenset({429, 503, 504})
"""Answers that a list from the start would only make worse."""
_TIMEOUT = 60.0
"""Seconds for one page."""
_TRIES = 6
"""For one page. The API server keeps the token of the next page for minutes."""


async def read_page(client: Client, path: str, params: Mapping[str, str], backoff: Backoff) -> Page:
    """One page. A page that follows another is requested again while the API server is busy.

    100,000 pods are 200 pages. A list that restarts whenever one of them fails may never end, and
    is the worst load for a busy API server. Errors: ApiError, OutcomeUnknown, msgspec's.
    """
    for left in reversed(range(_TRIES if "continue" in params else 1)):
        try:
            return decode_page(await client.get(path, params=params, timeout=_TIMEOUT))
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

    kind: str
    """As its collection is named."""
    namespace: str
    name: str
    """Empty if not even that can be read."""
    error: str

    def __str__(self) -> str:
        name = logged(*filter(None, (self.namespace, self.name))) or "one of them"
        return f"{self.kind}: {name} cannot be read: {show(self.error)}"


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
                    kind = path.rpartition("/")[2]
                    found = Unreadable(kind, about.namespace, about.name, str(error))
                yield found
            if not token:
                return
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


_LOOKUP_TIMEOUT: Final = 1.0
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
            async with asyncio.timeout(_LOOKUP_TIMEOUT), self._turns:
                await self._client.get(f"{_QUEUES}/{name}", timeout=_LOOKUP_TIMEOUT)
        except ApiError as error:
            if error.status == 404:
                return False
            log.warning("asking for Queue <%s>: %s", name, error)
        except (OutcomeUnknown, TimeoutError) as error:
            log.info("asking for Queue <%s>: %s", name, str(error) or "no answer in time")
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
            async with asyncio.timeout(_LOOKUP_TIMEOUT), self._turns:
                return await self._read(f"namespaces/{namespace}/{kind.lower()}s", name)
        except (ApiError, OutcomeUnknown, TimeoutError, ValueError, RecursionError) as error:
            raise LookupError(str(error) or "no answer in time") from None

    async def _read(self, path: str, name: str) -> Collection[str] | None:
        """From the first version that is served: no API server has all of them."""
        for version in _CLAIM_VERSIONS:
            try:
                found = await self._client.get(
                    f"/apis/resource.k8s.io/{version}/{path}/{name}", timeout=_LOOKUP_TIMEOUT
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
            async with asyncio.timeout(_LOOKUP_TIMEOUT), self._turns:
                found = await self._client.get(
                    path, params={**params, "labelSelector": selector}, timeout=_LOOKUP_TIMEOUT
                )
            items = decode_page(found).items
            return Pod.decode(items[0]) if items else None
        except (ApiError, OutcomeUnknown, TimeoutError, ValueError, RecursionError) as error:
            log.info("asking for a pod of a scaled object: %s", str(error) or "no answer in time")
            return None
