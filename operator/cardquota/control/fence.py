"""The fence: the API server accepts what the current term decides, and nothing of any other.

The object Term names the current term, and policies of the API server compare each decision with
it. Here its leader writes it, before it decides anything, and finds out again and again whether
that has the effect it should have: a policy, a binding or a kind may be deleted, and an API server
may not notice a change.

- A Term is written only after it was read and then the Lease was found to be ours, in this order,
  and under the revision that was read. So no leader that has lost the Lease writes over the term of
  its successor.
- A reservation of this term, and one of no term, are created as dry runs: the first must be
  accepted, the second refused.
- When a decision is refused for its term, nothing is decided any more. That very write is sent
  again as a dry run, at growing intervals, until it is not refused for that.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.api.client import Client
from ..cluster.election.elector import Elector
from ..cluster.election.lease import TermObject
from ..cluster.events import EventRecorder, ObjectReference
from ..cluster.writes import refused_for_term
from ..loop.timing import Backoff, boottime
from ..metrics import Metrics
from ..quota import vocabulary as v
from ..quota.messages import report_messages
from ..quota.stamp import Reservation, reservation_text
from ..settings import InstallationMode, Settings

_LOG = logging.getLogger(__name__)
EVERY: Final = 10.0
"""Seconds between two looks, and at most between two tries while something is wrong."""
_FIRST: Final = 0.05
"""Seconds before the first of these tries: an API server knows a new term within milliseconds."""
_PATIENCE: Final = 3.0
"""Seconds for which something must have been wrong before people are told."""
_TIMEOUT: Final = 2.0
"""Seconds for one request."""
_NO_TERM: Final = "no-term"
_GROUPS: Final = f"{v.API_GROUP}/{v.VERSION}"


class FenceFault(StrEnum):
    """What is wrong with it."""

    UNWRITTEN = "unwritten"
    """The Term does not name our term. Nothing is decided."""
    REFUSED = "refused"
    """Decisions of our term are refused. Nothing is decided."""
    OPEN = "open"
    """Decisions of any term are accepted."""
    UNTRIED = "untried"
    """Whether they are cannot be tried: something else refuses the trial."""


class _Found(NamedTuple):
    fault: FenceFault
    text: str


class _Refusal(NamedTuple):
    text: str
    for_term: bool
    """If not, it says nothing of the fence."""


_DECIDES: Final = (None, FenceFault.OPEN, FenceFault.UNTRIED)


class Fence:
    """Of one replica, for one term after the other.

    Guarantees: `held` returns only once the Term names the current term and the API server that we
    ask accepts it, and not before it refuses another, or did not for a while. A fault is told
    within 30 s: by metric, log, `problem`, an event on the Lease
    and the Term's status. While `closed`, a few requests every 10 s.
    Not guaranteed: that another API server knows the Term as soon as the one that we ask.
    """

    def __init__(
        self,
        client: Client,
        elector: Elector,
        events: EventRecorder,
        metrics: Metrics,
        settings: Settings,
        *,
        clock: Callable[[], float] = boottime,
    ) -> None:
        """`clock`: the elector's."""
        self._object = TermObject(client, settings.namespace, v.LEASE)
        self._client = client
        self._elector = elector
        self._events = events
        self._metrics = metrics
        self._namespace = settings.namespace
        self._where = f"{settings.namespace}/{v.LEASE}"
        self._audit = settings.mode is InstallationMode.AUDIT
        self._clock = clock
        self._held = asyncio.Event()
        self._held_at = float("-inf")
        self._woken = asyncio.Event()
        self._suspected = False
        """Whether a decision was refused, and would be again for all that is known."""
        self._refused_at = float("-inf")
        self._repeat: Callable[[], Awaitable[object]] | None = None
        """Sends the decision that was refused last once more, as a dry run."""
        self._found: _Found | None = None
        """By the last look."""
        self._since: float | None = None
        """When something was wrong first; None: nothing was for a while."""
        self._notified: _Found | None = None
        for fault in FenceFault:
            metrics.fence_faults.labels(fault).set(0)

    @property
    def closed(self) -> bool:
        """Whether nothing may be decided now."""
        fault = self._found.fault if self._found is not None else None
        return self._suspected or fault not in _DECIDES or not self._held.is_set()

    @property
    def problem(self) -> str:
        """What people have to put right; empty if nothing is known to be wrong."""
        return self._notified.text if self._notified is not None else ""

    async def held(self) -> float:
        """Return once the current term is known to hold: since when, on our clock."""
        await self._held.wait()
        return self._held_at

    def refused(self, repeat: Callable[[], Awaitable[object]]) -> None:
        """A decision was refused for its term. `repeat`: sends it again, as a dry run."""
        self._metrics.refused_gates.labels("term").inc()
        self._suspected, self._repeat, self._refused_at = True, repeat, self._clock()
        self._woken.set()

    async def run(self, term: str) -> None:
        """Keep the fence in this term until cancelled."""
        backoff = Backoff(_FIRST, EVERY)
        try:
            while True:
                self._woken.clear()
                self._found = await self._look(term)
                self._suspected = self._woken.is_set() or self._repeat is not None
                if self._may_hold():
                    self._held_at = self._clock()
                    self._held.set()
                calm = self._found is None and self._clock() - self._refused_at >= EVERY
                if calm:
                    self._since = None
                    backoff.reset()
                elif self._since is None:
                    self._since = self._clock()
                if self._tell():
                    continue  # and write it on the Term
                pause = EVERY if self._found is None else backoff.next()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._woken.wait()
                    await asyncio.sleep(backoff.next())
        finally:
            self._held.clear()
            self._found = self._since = self._notified = self._repeat = None
            self._suspected = False
            self._show(None)

    def _may_hold(self) -> bool:
        """Whether we may decide from now on. What stops nobody later is waited for a moment: an API
        server may not have noticed yet what is there.
        """
        if self._held.is_set():
            return False
        if self._found is None:
            return True
        lasts = self._since is not None and self._clock() - self._since >= _PATIENCE
        return lasts and self._found.fault in _DECIDES

    async def _look(self, term: str) -> _Found | None:
        try:
            if not await self._name(term):
                return _Found(FenceFault.UNWRITTEN, report_messages.fence_not_ours(self._where))
        except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
            if isinstance(error, OutcomeUnknown) and self._held.is_set():
                return self._found  # no more is known than before; the Lease has its own deadline
            text = report_messages.fence_unwritten(self._where, str(error))
            return _Found(FenceFault.UNWRITTEN, text)
        try:
            said = await self._tried_again()
            if said is not None:
                return self._refused_for(said)
            ours, others = await _refusal(self._reserve(term)), None
            if ours is not None and ours.for_term:
                return self._refused_for(ours)
            if not self._audit:
                others = await _refusal(self._reserve(_NO_TERM))
                if others is None:
                    return _Found(FenceFault.OPEN, report_messages.fence_accepts_any(self._where))
        except OutcomeUnknown as error:
            return self._found if self._held.is_set() else self._untried(str(error))
        for said in (ours, others):
            if said is not None and not said.for_term:
                return self._untried(said.text)
        return None

    async def _tried_again(self) -> _Refusal | None:
        """Why the decision that was refused last is refused still, if it is so for its term."""
        repeat = self._repeat
        if repeat is None:
            return None
        with suppress(OutcomeUnknown):  # that is no refusal, and may be of this object alone
            said = await _refusal(repeat())
            if said is not None and said.for_term:
                return said
        if self._repeat is repeat:  # else another was refused meanwhile
            self._repeat = None
        return None

    def _refused_for(self, said: _Refusal) -> _Found:
        return _Found(FenceFault.REFUSED, report_messages.fence_refused(self._where, said.text))

    def _untried(self, answer: str) -> _Found:
        return _Found(FenceFault.UNTRIED, report_messages.fence_untried(self._namespace, answer))

    async def _name(self, term: str) -> bool:
        """Have the Term name our term. Returns whether it does: False if the Lease is not ours."""
        stored = await self._object.read(_TIMEOUT)
        if stored is not None and stored.says(term, self.problem):
            return True
        if not await self._elector.still_holds(term):
            return False
        await self._object.write(stored, term, self.problem, _TIMEOUT)
        return True

    def _reserve(self, term: str) -> Awaitable[object]:
        """A dry run: a pod group with a reservation of this term."""
        reservation = reservation_text(Reservation("", term, ()))
        body = {
            "apiVersion": _GROUPS,
            "kind": "PodGroup",
            "metadata": {"name": v.FENCE_PROBE, "annotations": {v.RESERVATION: reservation}},
            "spec": {"minMember": 1},
        }
        path = f"/apis/{_GROUPS}/namespaces/{self._namespace}/podgroups"
        return self._client.post(path, body, params={"dryRun": "All"}, timeout=_TIMEOUT)

    def _tell(self) -> bool:
        """Tell people of what has changed for a while. Returns whether anything has."""
        now, before = self._found, self._notified
        if self._since is not None and (now is None or self._clock() - self._since < _PATIENCE):
            return False
        if (now and now.fault) == (before and before.fault):
            return False
        self._notified = now
        self._show(now)
        lease = ObjectReference(
            "Lease", "coordination.k8s.io/v1", self._namespace, v.LEASE, self._elector.lease_uid
        )
        if now is not None:
            _LOG.warning("%s", now.text)
            self._events.record(
                lease, type="Warning", reason=v.FENCE_FAULT, message=now.text, topic=now.fault
            )
        else:
            text = report_messages.fence_in_force()
            _LOG.info("%s", text)
            self._events.record(lease, type="Normal", reason=v.FENCE_IN_FORCE, message=text)
        return True

    def _show(self, found: _Found | None) -> None:
        for fault in FenceFault:
            there = found is not None and found.fault is fault
            self._metrics.fence_faults.labels(fault).set(int(there))


async def _refusal(sent: Awaitable[object]) -> _Refusal | None:
    """Why a write was refused; None if it was accepted. Raises OutcomeUnknown."""
    try:
        await sent
    except ApiError as error:
        return _Refusal(error.message, refused_for_term(error))
    return None
