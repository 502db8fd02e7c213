"""What the lines of a watch say: told on, and how far it has come."""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from ..api import wire
from ..api.api_error import read_status
from .delivery import Delivery
from .progress import Progress
from .resume_policy import StreamError

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
