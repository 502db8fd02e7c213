"""A reflector of a kind that an API server may not serve, or only in an older version.

Nothing waits long for such a kind: without it, everything else works as usual.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from ...loop.timing import Backoff, TimeSlice
from ..api.api_error import ApiError
from .delivery import ObjectIndex, WatchedObject
from .reflector import Reflector

log = logging.getLogger(__name__)

T = TypeVar("T", bound=WatchedObject)

_FORBIDDEN: Final = 403
_ASK_AGAIN: Final = 300.0
"""The most seconds until an absent kind is requested again."""
_ASK_FIRST: Final = 1.0
"""The same at first: right after its start, an API server forbids what it allows a second later."""
_LIST_TIMEOUT: Final = 10.0
"""Seconds; a few tries."""


class OptionalReflector(Reflector[T]):
    """Reflects one kind into one sink, in the first of several versions that is served.

    While one is served, the guarantees are those of a reflector. While none is, or we may not read
    it, the kind counts as synced and current, it is requested again, ever more rarely, and the sink
    is told that there are no objects. What was known before stays for a while, since that answer
    may pass. The kind also counts as synced once it could not be listed for a while: one that the
    API server never manages to list holds up nothing.
    """

    needed = False

    def __init__(
        self,
        *args: Any,
        paths: Sequence[str],
        ask_again: float = _ASK_AGAIN,
        list_timeout: float = _LIST_TIMEOUT,
        **kwargs: Any,
    ) -> None:
        """`paths`: of the collection, the newest version first. `ask_again`: the most seconds
        between two requests of an absent kind. `list_timeout`: seconds to wait for a kind that
        cannot be listed, or is absent and was not before.
        """
        super().__init__(*args, path=paths[0], **kwargs)
        self._paths = tuple(paths)
        self._ask_again = ask_again
        self._list_timeout = list_timeout
        self._trying_since: float | None = None
        self._why_absent = ""
        self._absent_since: float | None = None
        """When the first of the refusals in a row came; None: the last answer was another."""
        self._awaited = asyncio.Event()
        """Somebody waits for news of an absent kind."""
        self._listed = asyncio.Event()
        """What the sink was told is a list, and what came after it."""

    @property
    def absent(self) -> bool:
        """Whether the sink was told that there are no objects, or has been told nothing yet."""
        return not self._listed.is_set()

    async def passed(self, revision: int) -> None:
        """As of a reflector; an absent kind is requested at once, and must be listed first."""
        self._awaited.set()
        await self._listed.wait()
        await super().passed(revision)

    def lag(self) -> float:
        """As of a reflector; 0 while the kind is absent."""
        return 0.0 if self._why_absent else super().lag()

    @property
    def late(self) -> bool:
        """As of a reflector; false while the kind is absent."""
        return not self._why_absent and super().late

    async def _list(self) -> None:
        """List the kind as soon as it is served."""
        first = min(_ASK_FIRST, self._ask_again)
        pause = Backoff(first, self._ask_again)
        while True:
            self._awaited.clear()
            why = await self._list_any()
            if why is None:
                break
            if self.absent or self._refused_for_long:
                await self._count_as_absent(why)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause.next()):
                    await self._awaited.wait()
        if self._why_absent:
            # There was nothing to follow until now.
            self._why_absent, self._gap_since = "", self._clock()
        self._listed.set()

    async def _count_as_absent(self, error: ApiError) -> None:
        self._listed.clear()
        slice_ = TimeSlice()
        for _ in self._delivery.only_in_steps(ObjectIndex()):
            await slice_.give_way()
        self._count_as_synced()
        why = str(error)
        if why != self._why_absent:
            self._why_absent = why
            level = logging.WARNING if error.status == _FORBIDDEN else logging.INFO
            text = "%s cannot be read, trying again now and then: %s"
            log.log(level, text, self.kind, why)

    async def _list_any(self) -> ApiError | None:
        """List the newest served version. Returns why there is none, else None."""
        refused: ApiError | None = None
        for path in self._paths:
            self.path = path
            if self._trying_since is None:
                self._trying_since = self._clock()  # an answer alone may take long
            try:
                await super()._list()
            except ApiError as error:
                if not error.absent:
                    self._failed()
                    raise
                if refused is None or error.status == _FORBIDDEN:
                    refused = error
                if self._absent_since is None:
                    self._absent_since = self._clock()
            except Exception:
                self._failed()
                raise
            else:
                self._trying_since = self._absent_since = None
                return None
        return refused

    async def follow(self) -> bool:
        """As of a reflector; where the kind is not served any more, it is listed first."""
        try:
            return await super().follow()
        except ApiError as error:
            if not error.absent:
                raise
        # Whatever the next answer is, a list comes first.
        self._usable = False
        return False

    @property
    def _refused_for_long(self) -> bool:
        since = self._absent_since
        return since is not None and self._clock() - since >= self._list_timeout

    def _failed(self) -> None:
        """The failure may pass. A replica that starts without the kind treats it as empty."""
        self._absent_since = None
        begun = self._trying_since
        if begun is not None and self._clock() - begun >= self._list_timeout:
            self._count_as_synced()

    def _count_as_synced(self) -> None:
        self.synced = True
        self._synced_event.set()
