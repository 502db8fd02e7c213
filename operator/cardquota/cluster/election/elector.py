"""Leader election on a Lease, with an explicit term and an explicit end.

In every doubt that could make two leaders, it does not lead. The deadline counts from *sending* the
last successful renewal. A renewal of unknown outcome does not count. Another replica's Lease is
taken only after it was seen unchanged for its whole duration on our own clock.

Why not a library's elector: those of the client libraries leave a leader running after a connection
error, and count up to a retry period and a request more than the renew deadline, by a clock that
may be set. Kopf's peering is no election.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress

import msgspec

from ...loop.timing import boottime, ended
from ...quota.vocabulary import EXTENDER_ADDRESS, HANDOVER
from ..api.api_error import ApiError, OutcomeUnknown
from ..api.client import Client
from .lease import Lease, LeaseObject, Revisions, handover_text, read_handover

HEALTHY = 1.0
"""Seconds within which a renewal must be answered for the API server to count as healthy."""


class Renewals:
    """Used for one term after the other. All times in seconds on the elector's clock."""

    def __init__(self, period: float) -> None:
        """`period`: seconds between sending two renewals."""
        self._period = period
        self.sent = float("-inf")
        """When the last successful one was sent; the acquisition is the first."""
        self._healthy_since = float("inf")

    def begin(self, sent: float, now: float) -> None:
        """The Lease was acquired."""
        self.sent, self._healthy_since = sent, now

    def failed(self, now: float) -> None:
        """A renewal was refused, or its outcome is unknown."""
        self._healthy_since = now

    def succeeded(self, sent: float, now: float) -> None:
        """A renewal was answered; it may have been answered or sent late."""
        if now - sent > HEALTHY or sent - self.sent > self._period + HEALTHY:
            self._healthy_since = now
        self.sent = sent

    def healthy_since(self, now: float) -> float:
        """The time since when every renewal was sent in time and answered within 1 s."""
        # A renewal that is overdue, unanswered or not even sent, counts before it has ended.
        overdue = now - self.sent > self._period + 2 * HEALTHY
        return now if overdue else self._healthy_since


log = logging.getLogger(__name__)

_ATTEMPT = 2.0
"""Seconds that one try may take at most; a quarter of the renew deadline if that is less."""


class _LostError(Exception):
    """We no longer hold the Lease; the text says why."""


class Elector:
    """Takes part in the election for one Lease.

    Guarantees: at most one participant has `time_left() > 0` at any moment, as long as no clock
    runs more than duration / renew_deadline times as fast as another. Every acquisition has a term
    that was never used before. `on_lost` follows each `on_acquired` unless `run` is cancelled.
    Every write names the revision that it was decided on.
    Not guaranteed: that a leader whose machine stalled stops *before* its successor starts. So
    decisions check `time_left()` before and after, and the API server checks the term.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str,
        duration: float = 12.0,
        renew_deadline: float = 8.0,
        retry_period: float = 1.0,
        clock: Callable[[], float] = boottime,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        """Times in seconds. `addresses`: by annotation of the Lease, where others reach us while we
        lead; empty: nowhere.
        """
        self._addresses = addresses or {}
        if not 0 < retry_period < renew_deadline < duration:
            raise ValueError("0 < retry_period < renew_deadline < duration must hold")
        self._object = LeaseObject(client, namespace, name)
        self._identity = identity
        self._duration = duration
        self._renew_deadline = renew_deadline
        self._retry_period = retry_period
        self._attempt = min(_ATTEMPT, renew_deadline / 4)
        self._clock = clock

        self._term: str | None = None
        self._candidate = self._new_term()
        self._ended: str | None = None
        """Our last term that ended: no replica can lead under it any more."""
        self._lease: Lease | None = None
        self._observed_at = float("-inf")
        """When the Lease was first seen in the state of `_lease`."""
        self.held = False
        """Whether the Lease had a holder when it was last seen."""
        self._renewals = Renewals(retry_period)
        self.acquired_at = float("-inf")
        """On our clock: when the last acquisition was answered."""
        self.previous_renewal_seen: float | None = None
        """On our clock: the latest possible time of the predecessor's last renewal, as observed.
        None if there was no predecessor, or it gave the Lease up."""
        self.handover: Revisions | None = None
        """What the predecessor left on the Lease, if it gave it up in order: what it had seen when
        it stopped deciding, all its own writes included."""
        self.last_loss = ""
        """Why the last term ended, in words for people."""
        self.lease_uid = ""
        """Of the Lease that was taken last."""

    @property
    def term(self) -> str | None:
        """The Lease's holderIdentity while we hold it, else None. Once it ended, None for good."""
        return self._term if self.time_left() > 0 else None

    def time_left(self) -> float:
        """Seconds before the renew deadline; not positive if we do not lead."""
        if self._term is None:
            return 0.0
        return self._renewals.sent + self._renew_deadline - self._clock()

    @property
    def leader(self) -> str:
        """The term under which somebody leads, as we last saw; empty if nobody does."""
        lease, seen = self._lease, self._clock() - self._observed_at
        return self.term or (lease.holder if lease is not None and seen <= self._duration else "")

    def leader_address(self, annotation: str = EXTENDER_ADDRESS) -> str:
        """Where the leader is called, as we last saw; empty if that is not known. `annotation`: of
        the Lease; by default its scheduler extender.
        """
        lease = self._lease
        if lease is None or not lease.holder:
            return ""
        return (lease.metadata.annotations or {}).get(annotation, "")

    async def still_holds(self, term: str) -> bool:
        """Whether the Lease is held under our `term` now, by a quorum read. If so, nobody has taken
        it before this returned. Raises ApiError, OutcomeUnknown, msgspec.MsgspecError.
        """
        lease = await self._object.read(self._attempt)
        return lease is not None and lease.holder == term == self.term

    @property
    def healthy_since(self) -> float:
        """The time on our clock since when every renewal was sent in time and answered in 1 s."""
        return self._renewals.healthy_since(self._clock())

    async def run(self, on_acquired: Callable[[str], None], on_lost: Callable[[str], None]) -> None:
        """Acquire, renew, and acquire again until cancelled. Both callbacks get the term.

        Cancelling releases nothing: the term continues until its deadline, or until `release`.
        An error raised by a callback ends the term and this call.
        """
        while True:
            await self._acquire()
            term = self._term
            assert term is not None  # noqa: S101 - for mypy
            log.info("leading, term %s", term)
            try:
                on_acquired(term)
                await self._hold()
            except _LostError as reason:
                self.last_loss = str(reason)
                log.warning("term %s is over: %s", term, reason)
            except Exception:
                self._end_term()
                on_lost(term)
                raise
            self._end_term()
            on_lost(term)

    async def release(self, handover: Revisions | None = None) -> None:
        """Give the Lease up in one write, and leave the successor a `handover` on it, if given.

        Call this when `run` was cancelled and no decision is in flight any more. Never raises: a
        failure is logged, and the Lease expires by itself.
        """
        annotations = {HANDOVER: handover_text(handover)} if handover else None
        term, self._term = self._term, None
        if term is None:
            return
        self._ended = term
        for _ in range(3):
            try:
                lease = await self._object.read(self._attempt)
                if lease is None or lease.holder != term:
                    return
                await self._object.release(lease, annotations, self._attempt)
            except ApiError as error:
                log.info("giving up the Lease: %s", error)
                if error.status != 409:
                    return
            except (OutcomeUnknown, msgspec.MsgspecError) as error:
                log.warning("giving up the Lease: %s", error)
                return
            else:
                log.info("gave up term %s", term)
                return

    async def _acquire(self) -> None:
        freed = asyncio.Event()
        watching = asyncio.create_task(self._object.watch(freed.set))
        try:
            await self._look_until_acquired(freed)
        finally:
            await ended({watching})

    async def _look_until_acquired(self, freed: asyncio.Event) -> None:
        """Read the Lease every retry period, and at once when it was freed."""
        while True:
            freed.clear()
            try:
                if await self._try_to_acquire():
                    return
            except ApiError as error:
                # Another replica was faster (409), or the request was refused: look again.
                log.log(
                    logging.DEBUG if error.status == 409 else logging.WARNING,
                    "trying to acquire the Lease: %s",
                    error,
                )
            except OutcomeUnknown as error:
                log.warning("trying to acquire the Lease: %s", error)
            except msgspec.MsgspecError:
                log.exception("the Lease is unreadable")
            with suppress(TimeoutError):
                async with asyncio.timeout(self._retry_period):
                    await freed.wait()

    async def _try_to_acquire(self) -> bool:
        asked = self._clock()
        lease = await self._object.read(self._attempt)
        answered = self._clock()
        if lease is None:
            # Its holder may have renewed it up to the moment when it was deleted.
            await self._take(None, answered if self.held else None)
            return True
        if self._lease is None or self._lease.revision != lease.revision:
            self._lease, self._observed_at = lease, answered
        self.held = bool(lease.holder)
        if not self.held:
            await self._take(lease, None)
            return True
        # A term of ours whose write had an unknown outcome, or one that has ended.
        ours = lease.holder in (self._candidate, self._ended)
        if ours or asked - self._observed_at >= (lease.duration or self._duration):
            await self._take(lease, self._observed_at)
            return True
        return False

    async def _take(self, lease: Lease | None, previous: float | None) -> None:
        term = self._candidate
        sent = self._clock()
        self._lease = await self._object.take(
            lease, term, self._duration, self._attempt, self._addresses
        )
        self._term, self._observed_at = term, sent
        self.lease_uid = self._lease.metadata.uid
        # Not earlier: while a write may still land, its term must be known as ours.
        self._candidate = self._new_term()
        self.held = True
        given_up = lease is not None and not lease.holder
        notes = (lease.metadata.annotations if lease and given_up else None) or {}
        self.handover = read_handover(notes.get(HANDOVER))
        self.previous_renewal_seen = previous
        self.acquired_at = self._clock()
        self._renewals.begin(sent, self.acquired_at)

    async def _hold(self) -> None:
        """Renew until the term is lost; there is no other way out."""
        while True:
            if await self._renew():
                # A steady pace from sending to sending: slow answers do not slow it down.
                pause = self._renewals.sent + self._retry_period - self._clock()
            else:
                pause = self._retry_period / 2
            await asyncio.sleep(max(0.0, min(pause, self.time_left())))

    async def _renew(self) -> bool:
        left = self.time_left()
        if left <= 0:
            raise _LostError(f"no renewal succeeded for {self._renew_deadline:g} s")
        lease = self._lease
        sent = self._clock()
        try:
            if lease is None:
                lease = await self._read_own(min(left, self._attempt))
                sent = self._clock()
                if (left := self.time_left()) <= 0:
                    return False
            self._lease = None  # whatever the outcome of the write, its revision is used up
            self._lease = await self._object.renew(lease, min(left, self._attempt))
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            self._renewals.failed(self._clock())
            if isinstance(error, ApiError) and error.status == 404:
                raise _LostError("the Lease was deleted") from error
            log.warning("renewing the Lease: %s", error)
            return False
        self._observed_at = sent
        # Code that checked meanwhile has seen that the term was over, and acts on it. An answer
        # after the deadline (the machine slept while it was under way) revives nothing.
        if self.time_left() <= 0:
            raise _LostError("the answer to a renewal came after the deadline")
        self._renewals.succeeded(sent, self._clock())
        return True

    async def _read_own(self, timeout: float) -> Lease:
        lease = await self._object.read(timeout)
        if lease is None:
            raise _LostError("the Lease was deleted")
        if lease.holder != self._term:
            raise _LostError(f"the Lease is held by {lease.holder or 'nobody'}")
        return lease

    def _end_term(self) -> None:
        self._ended = self._term or self._ended
        self._term = None

    def _new_term(self) -> str:
        return f"{self._identity}_{secrets.token_hex(5)}"
