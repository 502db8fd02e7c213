"""What the lines of a watch say: told on, how far it has come, and whether it can go on."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from ..api import wire
from ..api.api_error import ApiError, read_status
from .delivery import Delivery

_LIST_AGAIN = frozenset({400, 410})
"""Answers to a watch that say that its revision is no longer usable."""
OVERLOAD = frozenset({429, 503, 504})
"""Answers that a list from the start would only make worse."""


class StreamError(ApiError):
    """An ERROR event on a stream that had been opened."""


class ResumePolicy:
    """What the errors of one kind's watch say about the revision that it watches from."""

    def __init__(self) -> None:
        self._failed_at: int | None = None
        """The revision at which the last stream ended in an error, if no list followed."""

    def list_done(self) -> None:
        """A list was delivered whole: earlier failures no longer matter."""
        self._failed_at = None

    def is_lost(self, error: ApiError, revision: int) -> bool:
        """Whether watching from `revision` leads nowhere, so that only a list helps.

        An error on an open stream may be about the very next event ("unable to decode an object in
        the watch stream"): a watch from the same revision meets it for ever, and sees nothing. But
        the first error may also be a change of etcd's leader, which all streams of all replicas
        meet at once; lists from all of them would be the worst response. So this returns True at
        the second error in a row without progress. Only a stream that progresses or lasts resets
        the back-off, a list does not: if lists do not help either, there is one for every two of
        its longest delays.
        """
        if error.status in _LIST_AGAIN:
            return True
        if not isinstance(error, StreamError) or error.status in OVERLOAD:
            return False
        again, self._failed_at = self._failed_at == revision, revision
        return again


class Progress:
    """Only moves forward. Belongs to the event loop it is used in."""

    def __init__(self) -> None:
        self.revision = 0
        """The newest resourceVersion up to which everything was delivered; 0 before a list."""
        self.current_at = float("-inf")
        """When, on the reflector's clock, that was last known to be everything."""
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    def told_up_to(self, revision: int, at: float) -> None:
        """Everything up to `revision` was delivered, as of `at` on the reflector's clock."""
        self.revision = max(self.revision, revision)
        self.current_at = max(self.current_at, at)
        for wanted, waiter in self._waiters:
            if wanted <= self.revision and not waiter.done():
                waiter.set_result(None)

    @property
    def awaited(self) -> bool:
        """Whether a waiter needs a revision that was not delivered yet."""
        return any(wanted > self.revision for wanted, _ in self._waiters)

    async def reached(self, revision: int) -> None:
        """Return once everything up to `revision` was delivered. It is `awaited` meanwhile."""
        waiter = (revision, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            await waiter[1]
        finally:
            self._waiters.remove(waiter)


T = TypeVar("T", bound=wire.WatchedObject)


class BrokenStreamError(Exception):
    """The stream cannot be followed from here: list again."""


class EventReader(Generic[T]):
    """Reads one kind's watches, one line after the other."""

    def __init__(
        self, delivery: Delivery[T], progress: Progress, clock: Callable[[], float]
    ) -> None:
        self.applied = 0
        """The newest change that was told; bookmarks do not count."""
        self._delivery = delivery
        self._progress = progress
        self._clock = clock

    def read(self, line: bytes) -> None:
        """Tell what one line says. Raises StreamError where it is an error of the API server's,
        and BrokenStreamError where it cannot be read.
        """
        try:
            event = wire.decode_event(line)
            if event.type in (wire.ADDED, wire.MODIFIED):
                revision = self._delivery.changed(event.object, newer_than=self._progress.revision)
            elif event.type == wire.DELETED:
                revision = self._delivery.deleted(event.object)
            elif event.type == wire.BOOKMARK:
                meta = wire.decode_identity(event.object).metadata
                revision = wire.revision_of(meta.resource_version)
                self._progress.told_up_to(revision, self._clock())
                return
            elif event.type == wire.ERROR:
                status = read_status(event.object)
                after = status.details.retry_after_seconds if status.details else None
                raise StreamError(status.code, status.reason, status.message, retry_after=after)
            else:
                raise BrokenStreamError(f"unknown event type {event.type[:40]!r}")
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise BrokenStreamError(f"unreadable line of {len(line)} bytes: {error}") from error
        self.applied = max(self.applied, revision)
        self._progress.told_up_to(revision, self._clock())
