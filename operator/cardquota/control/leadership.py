"""One term of the leader, from winning the Lease to the last settled patch.

Win the Lease, settle, catch up, then decide. When the term ends, all of this ends; the next term
begins anew.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..cluster.api.client import Client
from ..cluster.election.elector import Elector
from ..cluster.election.lease import Revisions
from ..cluster.election.takeover import LeadershipLost, settle_and_catch_up
from ..cluster.watch.reflector import Reflector
from ..loop.ended import ended
from ..settings import LeaderElection
from .fence import Fence
from .leader_work import LeaderWork, ReportReceiver

_LOG = logging.getLogger(__name__)


class StopResult(NamedTuple):
    """How a leader stopped."""

    settled: bool
    """Whether no write of ours can land any more, so that the Lease may be given up. If not, it
    must expire: the successor then waits long enough."""
    handover: Revisions | None
    """What the successor must have seen, if that is known. Then it need not wait."""


class Leadership:
    """What this replica does while it leads. `acquired` and `lost` are the elector's callbacks.

    `failed` is called with an unexpected error, and if the deciding ended by itself while the Lease
    is still ours. Then nothing is decided any more and no other replica may decide, so the process
    should end.
    """

    def __init__(
        self,
        work: LeaderWork,
        client: Client,
        elector: Elector,
        fence: Fence,
        reflectors: Sequence[Reflector[Any]],
        lease: LeaderElection,
        make_receiver: Callable[[], ReportReceiver],
        failed: Callable[[BaseException], None],
    ) -> None:
        """`reflectors`: watches that decisions depend on. `make_receiver`: of the numbers of
        queues, in one term.
        """
        self._work = work
        self._client = client
        self._elector = elector
        self._fence = fence
        self._reflectors = reflectors
        self._lease = lease
        self._make_receiver = make_receiver
        self._failed = failed
        self._unsettled = False
        self._term: asyncio.Task[None] | None = None

    def acquired(self, term: str) -> None:
        """The Lease is ours."""
        self._term = asyncio.get_running_loop().create_task(self._lead(term))
        self._term.add_done_callback(lambda task: self._ended(term, task))

    def lost(self, term: str) -> None:
        """The term is over: decide nothing more."""
        _LOG.info("term %s: this replica decides nothing more", term)
        if self._term is not None:
            self._term.cancel()

    async def stop(self, timeout: float) -> StopResult:
        """Orderly exit: stop deciding, settle what is in flight, in at most `timeout` seconds."""
        handover: Revisions | None = None
        drained = await self._work.drain(timeout)
        if drained is False:
            self._unsettled = True
        elif drained and await self._work.all_seen():
            # What a successor must have seen: all that we have, our own writes included.
            handover = {reflector.kind: reflector.applied for reflector in self._reflectors}
        if self._term is not None:
            await ended({self._term})
        return StopResult(settled=not self._unsettled, handover=handover)

    def _ended(self, term: str, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None and self._elector.term == term:
            error = RuntimeError(f"term {term} still holds the Lease, but nothing decides in it")
        if error is not None:
            self._unsettled = True
            self._failed(error)

    async def _lead(self, term: str) -> None:
        fence = asyncio.get_running_loop().create_task(self._fence.run(term))
        fence.add_done_callback(lambda task: self._ended(term, task))
        try:
            await self._settle_and_decide(term)
        finally:
            await ended({fence})

    async def _settle_and_decide(self, term: str) -> None:
        try:
            await settle_and_catch_up(
                self._elector,
                self._reflectors,
                self._client,
                self._fence.held,
                settle=self._lease.settle,
                renew_deadline=self._lease.renew_deadline,
            )
        except LeadershipLost as reason:
            _LOG.info("term %s ended before it decided anything: %s", term, reason)
            return
        await self._work.run(term, self._make_receiver())
