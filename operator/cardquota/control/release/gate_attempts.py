"""Attempts to open gates: each in a slot, and again later if it failed.

A pod that failed is held back by the ledger. It is put back after ever longer pauses, or when there
is news of it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple

from ...cluster.events.event import pod_reference
from ...cluster.events.events import EventRecorder
from ...cluster.writes.fenced_writer import FencedWriter
from ...metrics import Metrics
from ...quota import vocabulary as v
from ...quota.ledger.ledger import Ledger
from ...quota.messages import gate_messages
from ...quota.pods.pod_facts import PodFacts
from ...quota.stamp import Stamp
from ...quota.words import time_text
from .gate import GateOpener, Opened
from .retries import Retries
from .slots import NamespaceCircuitBreaker, Slot, Slots


class Writers(NamedTuple):
    """Makes the writers of one term, each with slots of its own."""

    deciding: Callable[[], FencedWriter]
    """For decisions, which name their term."""
    other: Callable[[], FencedWriter]
    """For all that decides nothing."""


class Chosen(NamedTuple):
    """A pod that starts."""

    facts: PodFacts
    """As it was judged."""
    stamp: Stamp
    """What it is charged."""
    resource: str
    """The resource name behind its cards; empty if it asks for none."""


class Sending(NamedTuple):
    """A gate whose first patch has not been answered yet."""

    facts: PodFacts
    stamp: Stamp
    resource: str
    slot: Slot
    then: Callable[[], None] | None = None
    """Called once the slot is given back."""


class GateAttempts:
    """The attempts of one term, and the tasks that make them. Belongs to the ledger's loop."""

    def __init__(
        self,
        ledger: Ledger,
        gate: GateOpener,
        events: EventRecorder,
        metrics: Metrics,
        wake: Callable[[], None],
        *,
        in_flight: int,
        clock: Callable[[], float],
        began: float,
    ) -> None:
        """`wake`: have the releaser go on. `in_flight`: gates that are opened at the same time.
        `clock`: seconds, monotonic. `began`: when the term did, seconds since 1970.
        """
        self._ledger = ledger
        self.gate: Final = gate
        self.events: Final = events
        self._metrics = metrics
        self._wake = wake
        self._clock = clock
        self._began = time_text(int(began))
        self.breaker: Final = NamespaceCircuitBreaker(
            in_flight, lambda name: name in ledger.namespaces
        )
        self.slots: Final = Slots(in_flight, self.breaker, wake)
        """For gates whose first patch has not been answered yet."""
        self.retries: Final = Retries[tuple[str, str]](self._is_due)
        """By namespace and uid of the pod."""
        self._due: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Pods to be put back, by namespace and uid."""
        self.tasks: Final = set[asyncio.Task[Any]]()
        self.failure: BaseException | None = None
        """The first unexpected error of a task."""

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a task beside what decides. It ends with the term."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def send(self, pod: Chosen, slot: Slot) -> Sending:
        """Note that a patch of this pod, which is charged, is about to be sent."""
        self.events.give_way()
        return Sending(*pod, slot)

    def answered(self, sending: Sending, opened: Opened | None) -> None:
        """Give back a slot. `opened` None: the answer says nothing about the namespace."""
        worked = None
        if opened in (Opened.YES, Opened.UNKNOWN, Opened.REFUSED):
            worked = opened is Opened.YES
        self.slots.give_back(sending.slot, worked=worked)
        if sending.then is not None:
            sending.then()
        if not self.slots.taken:
            self.events.go_on()

    async def open(self, sending: Sending, since: float) -> Opened:
        """Open the gate and give back the slot; settle what is not known. `since`: when there was
        room, monotonic seconds.
        """
        facts, stamp, opened = sending.facts, sending.stamp, None
        try:
            opened = await self.gate.open(facts, stamp, sending.resource)
        finally:
            self.answered(sending, opened)
        if opened is Opened.UNKNOWN:
            opened = await self.gate.settle(facts, stamp)
        if opened is Opened.YES:
            self.retries.worked((facts.namespace, facts.uid))
            self._metrics.release_seconds.observe(max(0.0, self._clock() - since))
            if self._was_told(facts.uid):
                text = self._released(facts, stamp)
                about = pod_reference(facts)
                self.events.record(about, type="Normal", reason=v.RELEASED, message=text)
        elif opened is not Opened.TOO_LATE:
            self.failed(facts)
        return opened

    def failed(self, facts: PodFacts) -> None:
        """Have a pod that is held back put back later."""
        pod = facts.namespace, facts.uid
        self._due.pop(pod, None)
        self.retries.failed(pod)

    def put_back(self, over: Callable[[], bool]) -> bool:
        """Put back due pods until it is `over`. Returns whether there are more: a large gang may
        fail whole.
        """
        while self._due:
            if over():
                return True
            pod, _ = self._due.popitem(last=False)
            if pod[1] in self._ledger.pods:
                self._ledger.decisions.put_back(pod[1])
            else:
                self.retries.worked(pod)
        return False

    def _is_due(self, pod: tuple[str, str]) -> None:
        self._due[pod] = None
        self._wake()

    def _was_told(self, uid: str) -> bool:
        """Whether an event said that the pod waits, or that its gate was not opened; or may have
        said so, before this term.
        """
        record = self._ledger.pods.get(uid)
        if record is not None and (record.told or record.facts.created < self._began):
            return True
        return self.events.last_reason(uid) is not None

    def _released(self, facts: PodFacts, stamp: Stamp) -> str:
        mode = self._ledger.mode_in(facts.namespace)
        if mode is v.Mode.ENFORCE:
            return gate_messages.released(stamp.queue, stamp.cards)
        return gate_messages.released_unasked(facts.namespace, mode)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            self.failure = self.failure or task.exception()
        self._wake()
