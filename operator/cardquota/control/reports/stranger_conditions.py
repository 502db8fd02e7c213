"""Which queues are to be reported since somebody is refused what Volcano alone may do (V1).

The leader's own reviews tell it, and the other replicas. The condition is written with the numbers
of the queue, like all others.
"""

from collections.abc import Callable, Iterable
from typing import Final

from ...cluster.watch.change_notifier import ChangeNotifier
from ...loop.time_slice import LEADER_SLICE, TimeSlice
from ...quota.ledger.ledger import Ledger
from ...quota.reports.strangers import QueueStrangers, Strangers, queue_of_pod
from ...quota.vocabulary import RefusedWrite
from ..later import Later, Timer, in_loop_later

_EVERY: Final = 5.0
"""Seconds between two looks for what is over."""


class StrangerConditions:
    """What was noticed in the present term. Belongs to the ledger's loop.

    Guarantees: a queue is marked only when something else is to be shown of it, at most once a
    minute; no look takes longer than a time slice. Nothing is kept from one term to the next.
    Not guaranteed: that a refusal is shown whose Binding does not name the uid of its pod.
    """

    def __init__(
        self,
        ledger: Ledger,
        notifier: ChangeNotifier,
        clock: Callable[[], float],
        *,
        later: Later = in_loop_later,
    ) -> None:
        """`clock`: seconds, monotonic. `later` calls a function after a number of seconds."""
        self._ledger = ledger
        self._notifier = notifier
        self._clock = clock
        self._later = later
        self._strangers: Strangers | None = None
        self._settled = False
        """Whether queues of which nothing was noticed were reported as such."""
        self._timer: Timer | None = None

    # --- one term -----------------------------------------------------------------------------

    def begin(self, _: str) -> None:
        """Take what is noticed from now on."""
        self._strangers, self._settled = Strangers(self._clock), False
        self._look_later()

    async def drain(self, _: float) -> bool:
        """Nothing is decided here."""
        return True

    async def end(self) -> None:
        """The term is over. The next leader is told anew."""
        self._strangers = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def all_seen(self) -> bool:
        """Nothing that a successor has to know is decided here."""
        return True

    # --- what is noticed ----------------------------------------------------------------------

    @property
    def leads(self) -> bool:
        """Whether this replica writes conditions now."""
        return self._strangers is not None

    def note(self, what: RefusedWrite, user: str, pods: Iterable[str]) -> None:
        """It was refused to this user for these pods, by uid. Outside a term it does nothing.

        Whoever tells it has to know pods of a queue to have anything said of it.
        """
        if self._strangers is None:
            return
        by_queue: dict[str, list[str]] = {}
        for uid in pods:
            queue = queue_of_pod(self._ledger, uid)
            if queue is not None:
                by_queue.setdefault(queue, []).append(uid)
        found = self._strangers
        self._mark([one for one, uids in by_queue.items() if found.note(what, user, one, uids)])
        self._look_later()

    def of(self, queue: str) -> QueueStrangers:
        """What is shown of a queue; outside a term nothing is known."""
        if self._strangers is None:
            return QueueStrangers(known=False, users=())
        return self._strangers.of(queue)

    def _mark(self, queues: list[str]) -> None:
        if queues:
            self._ledger.dirty.mark_visible(queues)
            self._notifier.notify()

    def _look_later(self, seconds: float = _EVERY) -> None:
        """While there is anything to look for."""
        if self._strangers is None or self._timer is not None:
            return
        if self._strangers or not self._settled:
            self._timer = self._later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        strangers = self._strangers
        if strangers is None:
            return
        slice_, changed, left = TimeSlice(LEADER_SLICE, self._clock), list[str](), False
        for queue in strangers.due():
            if slice_.over:
                left = True
                break
            if strangers.look(queue):
                changed.append(queue)
        if strangers.known and not self._settled:
            self._settled = True
            changed.extend(one.name for one in self._ledger.accounts() if one.facts is not None)
        self._mark(changed)
        self._look_later(0.0 if left else _EVERY)
