"""A reflector of a kind that an API server may not serve, or only in an older version.

Nothing waits for such a kind: without it, everything else works as usual.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from ...loop.time_slice import TimeSlice
from ..api import wire
from ..api.api_error import ApiError
from .object_index import ObjectIndex
from .reflector import Reflector

log = logging.getLogger(__name__)

T = TypeVar("T", bound=wire.WatchedObject)

_FORBIDDEN: Final = 403
_ASK_AGAIN: Final = 300.0
"""Seconds, give or take a quarter, until an absent kind is requested again."""
_LIST_TIMEOUT: Final = 10.0
"""Seconds; a few tries."""


class OptionalReflector(Reflector[T]):
    """Reflects one kind into one sink, in the first of several versions that is served.

    While one is served, the guarantees are those of a reflector. While none is, or we may not read
    it, the sink is told that there are no objects, the kind counts as synced and current, and it is
    requested again now and then. It also counts as synced once it could not be listed for a while:
    a kind that the API server never manages to list holds up nothing.
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
        """`paths`: of the collection, the newest version first. `ask_again`: seconds.
        `list_timeout`: seconds to wait for a kind that cannot be listed.
        """
        super().__init__(*args, path=paths[0], **kwargs)
        self._paths = tuple(paths)
        self._ask_again = ask_again
        self._list_timeout = list_timeout
        self._trying_since: float | None = None
        self._why_absent = ""
        self._forbidden = False

    def lag(self) -> float:
        """As of a reflector; 0 while the kind is absent."""
        return 0.0 if self._why_absent else super().lag()

    @property
    def late(self) -> bool:
        """As of a reflector; false while the kind is absent."""
        return not self._why_absent and super().late

    async def _list(self) -> None:
        """List the kind as soon as it is served."""
        while (why := await self._list_any()) is not None:
            slice_ = TimeSlice()
            for _ in self._delivery.only_in_steps(ObjectIndex()):
                await slice_.give_way()
            self._count_as_synced()
            if why != self._why_absent:
                self._why_absent = why
                level = logging.WARNING if self._forbidden else logging.INFO
                text = "%s are not read, and asked for again now and then: %s"
                log.log(level, text, self.kind, why)
            await asyncio.sleep(self._ask_again * (0.75 + self._random() / 2))
        self._why_absent = ""

    async def _list_any(self) -> str | None:
        """List the newest served version. Returns why there is none, else None."""
        refused, self._forbidden = "", False
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
                refused = refused or str(error)
                self._forbidden = self._forbidden or error.status == _FORBIDDEN
            except Exception:
                self._failed()
                raise
            else:
                self._trying_since = None
                return None
        return refused

    async def follow(self) -> bool:
        """As of a reflector; where the kind is not served any more, it is listed first."""
        try:
            return await super().follow()
        except ApiError as error:
            if not error.absent:
                raise
        # From now on no object is known. Whatever the next answer is, a list comes first.
        self._usable = False
        return False

    def _failed(self) -> None:
        """The failure may pass. A replica that starts without the kind treats it as empty."""
        begun = self._trying_since
        if begun is not None and self._clock() - begun >= self._list_timeout:
            self._count_as_synced()

    def _count_as_synced(self) -> None:
        self.synced = True
        self._synced_event.set()
