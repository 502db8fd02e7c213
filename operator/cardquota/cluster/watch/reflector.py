"""A reflector: delivers all objects of one kind to a sink, through every failure.

list (in pages) -> watch from the list's revision -> watch again from the last applied revision, as
long as the API server remembers it; after a 410 list again and find what vanished.

Why not Kopf's watches: a pod event costs them 1.0 to 1.5 ms, against 12 to 20 us for decoding a
partial struct. 100,000 pods take 3.3 GB as their dicts, and 72 MB as what is kept of them. After a
410 they never report what was deleted in the gap.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import aiohttp

from ...loop.timing import Backoff, TimeSlice, boottime
from ..api.api_error import ApiError, OutcomeUnknown, in_words
from ..api.client import Client, drop
from .delivery import (
    BrokenStreamError,
    Delivery,
    LineSplitter,
    ObjectIndex,
    StreamError,
    WatchedObject,
    revision_of,
)
from .listing import OVERLOAD, read_page

log = logging.getLogger(__name__)

T = TypeVar("T", bound=WatchedObject)

_LATE = 90.0
"""Seconds of silence from which on the known state is called old: an intact stream tells something
more often, or ends on time."""
_GAP = 2.0
"""The same, seconds without a stream: one follows another within milliseconds, unless the API
server does not answer, or what we ask it does not arrive."""
_PROBE_SECONDS = 3
"""Length of a watch opened for its bookmark: the API server sends one 2 s before the end."""
_LIST_AGAIN = frozenset({400, 410})
"""Answers to a watch that say that its revision is no longer usable."""


class Reflector(Generic[T]):
    """Reflects one kind into one sink.

    Guarantees: the sink gets every object, every change that lasts, and every deletion, also of
    objects that vanished while the stream was cut. For each object nothing older than before is
    delivered. Nothing is delivered from a list that is older than what was applied: if an API
    server went back in time, as after a restored backup, it waits, with errors in the log. `run`
    ends only by cancellation.
    Not guaranteed: that short-lived states between two changes are seen. Nor that objects are
    delivered as gone if the kind itself is no longer served (404): it is requested again and again.
    """

    needed = True
    """Whether decisions depend on the kind."""

    def __init__(
        self,
        client: Client,
        *,
        path: str,
        delivery: Delivery[T],
        params: Mapping[str, str] | None = None,
        page_size: int = 500,
        clock: Callable[[], float] = boottime,
        watch_seconds: float = 60.0,
        stall_timeout: float = 90.0,
        backoff: Backoff | None = None,
    ) -> None:
        """`path` of the collection. `delivery`: who is told, and what is known to exist already;
        `params`: selectors, if any.

        `watch_seconds`: requested length of a watch, give or take a quarter; a quiet stream has a
        bookmark at least that often. `stall_timeout`: seconds of silence after which a stream is
        given up; more than a watch lasts.
        """
        if page_size < 1:
            raise ValueError("page_size must be at least 1")
        if stall_timeout <= watch_seconds * 1.25:
            raise ValueError("stall_timeout must exceed watch_seconds by more than a quarter")
        self.path = path
        self.kind = delivery.kind
        self.synced = False
        """Whether everything was delivered at least once and news can come. Stays true.

        A list alone is not enough. If the first watch is refused (an API server that has just
        created the kind does so for a second), objects created then would not be known.
        """
        self.relists = 0
        """Lists after the first complete one."""
        self._client = client
        self._delivery = delivery
        self._params = dict(params or {})
        self._page_size = page_size
        self._clock = clock
        self._watch_seconds = watch_seconds
        self._stall_timeout = stall_timeout
        self._backoff = backoff or Backoff()
        self._current_at = float("-inf")
        """When what was delivered was last known to be everything."""
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        """For what was not delivered yet, by revision."""
        self._failed_at: int | None = None
        """The revision at which the last stream ended in an error, if no list followed."""
        self._synced_event = asyncio.Event()
        self._stream: aiohttp.ClientResponse | None = None
        self._gap_since: float | None = clock()
        """Since when no stream is followed; None while one is."""
        self._cut = False
        self._usable = False
        """Whether a watch can continue from the known state; else it must be listed first."""
        self._streamed = False
        """Whether a stream has progressed, or lasted, since the last list."""

    def __len__(self) -> int:
        """How many objects exist, as far as known. Costs O(namespaces)."""
        return len(self._delivery.objects)

    @property
    def unreadable(self) -> int:
        """How many of them could not be read. Any thread may ask."""
        return len(self._delivery.unreadable)

    @property
    def revision(self) -> int:
        """The newest resourceVersion up to which everything was delivered; 0 before a list."""
        return self._delivery.revision

    @property
    def applied(self) -> int:
        """The revision of the newest delivered change, or of the last list. Bookmarks do not count.

        A replica that has passed this revision knows as much of the kind as we do.
        """
        return self._delivery.applied

    @property
    def absent(self) -> bool:
        """Whether nothing is known of the kind, which an optional one may be. A needed one never
        is.
        """
        return False

    def lag(self) -> float:
        """Seconds since which the view is known to be behind the API server; 0 if it is not.

        It is 0 while a stream is followed, and for the 2 s that one stream may take to follow
        another. Without a stream it counts from when the last one ended, or from the start, until
        the next one is open: through lists too. Where a stream is open and silent for longer than
        an intact one can be (90 s), it counts from when that last told something.
        Not told: how far an API server is behind its own store.
        """
        since = self._behind_since
        return 0.0 if since is None else self._clock() - since

    @property
    def late(self) -> bool:
        """Whether what is known may be old: nothing was listed yet, or the view is behind."""
        return self._behind_since is not None

    @property
    def _behind_since(self) -> float | None:
        now, gap, listed = self._clock(), self._gap_since, self.revision > 0
        found = [gap] if gap is not None and (now - gap > _GAP or not listed) else []
        if listed and now - self._current_at > _LATE:
            found.append(self._current_at)
        return min(found, default=None)

    async def wait_synced(self) -> None:
        """Return once everything was delivered at least once, and news can come."""
        await self._synced_event.wait()

    async def passed(self, revision: int) -> None:
        """Return once everything up to `revision` was delivered. Requires a running `run`.

        Replaces a long stream by a short one that ends with a bookmark: 1 to 2 s. Not guaranteed to
        end, if `revision` is in the future or the API server is away.
        """
        if self.revision >= revision:
            return
        if self._stream is not None:
            self._cut = True
            drop(self._stream)
        waiter = (revision, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            await waiter[1]
        finally:
            self._waiters.remove(waiter)

    async def run(self) -> None:
        """List and watch until cancelled, through every failure."""
        self._usable = False
        while True:
            retry_after: float | None = None
            try:
                if not self._usable:
                    await self._list()
                    self._usable = True
                if await self.follow():
                    continue
                log.debug("%s: the stream ended at once", self.kind)
            except ApiError as error:
                lost = self._is_lost(error)
                if lost and self._streamed and not isinstance(error, StreamError):
                    # It answers again after an outage, and what we know is as old as the outage.
                    # The delays have grown while it did not answer.
                    self._backoff.reset()
                self._usable = self._usable and not lost
                retry_after = error.retry_after
                log.log(
                    logging.INFO if error.status == 410 else logging.WARNING,
                    "%s: %s",
                    self.kind,
                    error,
                )
            except BrokenStreamError as error:
                self._usable = False
                log.error("%s: %s; listing again", self.kind, error)  # noqa: TRY400
            except OutcomeUnknown as error:
                retry_after = error.retry_after
                log.warning("%s: %s", self.kind, error)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                log.warning("%s: stream lost: %s", self.kind, in_words(error))
            except Exception as error:
                self._usable = False
                log.exception("%s: %s; listing again", self.kind, type(error).__name__)
            await asyncio.sleep(self._backoff.next(retry_after))

    async def _list(self) -> None:
        if self.revision:
            self.relists += 1
        asked = self._clock()
        listed = ObjectIndex()
        slice_ = TimeSlice()
        revision = 0
        params = {**self._params, "limit": str(self._page_size)}
        while True:
            page = await read_page(self._client, self.path, params, self._backoff)
            if not revision:
                revision = revision_of(page.metadata.resource_version)
                if revision < self.revision or not revision:
                    raise BrokenStreamError(
                        f"list at revision {revision}, after {self.revision} was told"
                    )
            for raw in page.items or ():
                self._delivery.changed(raw, listed=listed)
                await slice_.give_way()
            if not page.metadata.continue_:
                break
            params["continue"] = page.metadata.continue_
        vanished = 0
        for gone in self._delivery.only_in_steps(listed):
            vanished += gone
            await slice_.give_way()
        log.info(
            "%s: %d listed at revision %d, %d were deleted meanwhile",
            self.kind,
            len(listed),
            revision,
            vanished,
        )
        self._failed_at = None
        self._streamed = False
        self._delivery.listed(revision)
        self._current(asked)

    def _is_lost(self, error: ApiError) -> bool:
        """Whether watching from this revision leads nowhere, so that only a list helps.

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
        again, self._failed_at = self._failed_at == self.revision, self.revision
        return again

    def _current(self, at: float) -> None:
        """What was delivered by now was everything at that time."""
        self._current_at = max(self._current_at, at)
        for wanted, waiter in self._waiters:
            if wanted <= self.revision and not waiter.done():
                waiter.set_result(None)

    @property
    def _probe_needed(self) -> bool:
        return any(wanted > self.revision for wanted, _ in self._waiters)

    async def follow(self) -> bool:
        """Follow one stream to its end, from what was told last; whether to continue at once.

        `run` does this again and again. Raises whatever else ended the stream.
        """
        probing = self._probe_needed
        seconds = _PROBE_SECONDS if probing else self._length()
        opened, begun_at = self._clock(), self.revision
        params = {
            **self._params,
            "resourceVersion": str(self.revision),
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        silence = min(self._stall_timeout, seconds + 10.0)
        splitter = LineSplitter()
        slice_ = TimeSlice()
        told = False
        async with self._client.watch(self.path, params=params, read_timeout=silence) as response:
            self.synced = True
            self._synced_event.set()
            if self._probe_needed and not probing:
                return True
            self._cut = False
            self._stream = None if probing else response
            self._gap_since = None
            begun = self._clock()  # the answer alone may take long, and proves nothing
            try:
                async for chunk in response.content.iter_any():
                    for line in splitter.feed(chunk):
                        self._delivery.read(line)
                        self._current(self._clock())
                        told = True
                        await slice_.give_way()
            except (aiohttp.ClientError, OSError):
                if not self._cut:
                    raise
            finally:
                self._stream = None
                self._gap_since = self._clock()
                lasted = self._gap_since - begun >= 1.0
                if lasted or self.revision > begun_at:
                    self._streamed = True
                    self._backoff.reset()
        now = self._clock()
        if now - opened >= seconds - 1.0:
            # The API server ended it on time: until then there was nothing more to deliver. It may
            # have sent no bookmark, if the kind has never changed since the server started.
            self._current(now)
        # Streams that end at once and empty, again and again, must not become a busy loop.
        return told or self._cut or lasted

    def _length(self) -> int:
        # Neither all kinds nor all replicas should reconnect at the same moment.
        share = 0.75 + random.random() / 2  # noqa: S311 - no secret
        return max(1, round(self._watch_seconds * share))
