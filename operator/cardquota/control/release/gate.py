"""Opening gates: one patch each, fenced, and settled if it is not known whether it landed.

The pod is charged before this begins. Its charge is taken back only if the gate was certainly not
opened and no patch of ours can open it any more.

Each attempt has a slot. A pod that failed is held back by the ledger. It is put back after ever
longer pauses, or when there is news of it.
"""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.events import EventRecorder, pod_reference
from ...cluster.writes import (
    FencedWriter,
    TooLateError,
    WrittenObject,
    decode_stored,
    guard,
    pod_path,
    precondition,
    settle_pod,
)
from ...metrics import Metrics
from ...quota import vocabulary as v
from ...quota.ledger.ledger import Ledger
from ...quota.messages import gate_messages
from ...quota.pods.pod_facts import PodFacts
from ...quota.selectors.selector import decode
from ...quota.stamp import Stamp, allocated_text
from ...quota.words import logged, time_text
from .pacing import NamespaceCircuitBreaker, Retries, Slot, Slots

_LOG = logging.getLogger(__name__)


class Opened(StrEnum):
    """How an attempt to open a gate ended."""

    YES = "yes"
    NO = "no"
    """It is shut, and no patch of ours can open it any more: the pod changed, or is gone."""
    REFUSED = "refused"
    """As NO, but the pod is unchanged: the API server, a webhook or a policy refuses it."""
    TOO_LATE = "too late"
    """Not tried, or refused for the term: decisions of this term are refused now, or it could have
    ended before the answer."""
    UNKNOWN = "unknown"
    """Not known: the charge stays until it is settled."""


class _Gate(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    scheduling_gates: tuple[_Gate, ...] | None = None


class _Pod(WrittenObject):
    spec: _Spec


_POD = msgspec.json.Decoder(_Pod)


class GateOpener:
    """Opens gates under the current term. One call per pod at a time."""

    def __init__(
        self,
        ledger: Ledger,
        writer: FencedWriter,
        settler: FencedWriter,
        *,
        refused: Callable[[PodFacts, str], None] = lambda _, __: None,
        unsure: Callable[[PodFacts, Stamp, str], None] = lambda _, __, ___: None,
        fresh: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        """`settler` sends the settling writes, beside `writer`. `refused` is called with a gate
        whose opening is refused, and why; `unsure` with one whose state is not known, and why it
        cannot be settled. `fresh`: returns a value never used before.
        """
        self._ledger = ledger
        self._writer = writer
        self._settler = settler
        self._refused = refused
        self._unsure = unsure
        self._fresh = fresh

    def in_time(self) -> bool:
        """Whether a gate could be opened in time now."""
        return self._writer.in_time()

    @property
    def closed(self) -> bool:
        """Whether no gate is opened now, since decisions of this term are refused."""
        return self._writer.closed

    async def would_open(self, facts: PodFacts, stamp: Stamp, resource: str) -> tuple[Opened, str]:
        """Whether the API server, with all webhooks and policies, would let this gate open now; if
        not, its words.

        Nothing is written, and the ledger's charge stays as it is. Not guaranteed: the same answer
        a moment later.
        """
        body = gate_patch(self._ledger, facts, stamp, resource)
        try:
            await self._writer.patch(pod_path(facts), body, dry_run=True)
        except TooLateError:
            return Opened.TOO_LATE, ""
        except ApiError as error:
            if error.moved:
                return Opened.NO, ""
            if not error.busy:
                self._refused(facts, error.message)
            return Opened.REFUSED, error.message
        except OutcomeUnknown as error:
            _LOG.warning(
                "dry run of opening the gate of pod %s: %s",
                logged(facts.namespace, facts.name),
                error,
            )
            return Opened.UNKNOWN, ""
        return Opened.YES, ""

    async def open(self, facts: PodFacts, stamp: Stamp, resource: str) -> Opened:
        """Open the gate of a pod that the ledger has charged, and tell the ledger the result.

        After UNKNOWN the pod stays charged and must be settled. If this is cancelled, whatever ends
        the term handles the charge.
        """
        body = gate_patch(self._ledger, facts, stamp, resource)
        try:
            answer = decode_stored(await self._writer.patch(pod_path(facts), body))
            revision = int(answer.metadata.resource_version)
        except TooLateError:
            self._ledger.decisions.retract(facts.uid, stamp)
            return Opened.TOO_LATE
        except ApiError as error:
            return self._shut(facts, stamp, error)
        except (OutcomeUnknown, msgspec.MsgspecError, ValueError) as error:
            _LOG.warning(
                "opening the gate of pod %s: %s", logged(facts.namespace, facts.name), error
            )
            return Opened.UNKNOWN
        self._ledger.decisions.confirm(facts.uid, stamp, revision)
        return Opened.YES

    async def settle(self, facts: PodFacts, stamp: Stamp) -> Opened:
        """Write something else under the same resourceVersion until one of the two writes has won.

        Reading alone proves nothing: a patch may land long after its time-out. Never returns
        UNKNOWN. Any change of the pod ends it. If it cannot be written for more than a moment,
        `unsure` is called with the reason.
        """
        read = await settle_pod(
            self._settler,
            facts,
            fresh=self._fresh,
            unsure=lambda why: self._unsure(facts, stamp, why),
        )
        # After the pod has changed, no write under the old version can land: did ours before?
        if read is not None and (revision := _opened_at(read, facts, stamp)):
            self._ledger.decisions.confirm(facts.uid, stamp, revision)
            return Opened.YES
        self._ledger.decisions.retract(facts.uid, stamp, back_off=True)
        return Opened.NO

    def _shut(self, facts: PodFacts, stamp: Stamp, error: ApiError) -> Opened:
        """The API server refused. After a conflict, the pod's watch event causes the next try."""
        level = logging.DEBUG if error.moved else logging.WARNING
        _LOG.log(level, "gate of %s stays shut: %s", logged(facts.namespace, facts.name), error)
        self._ledger.decisions.retract(facts.uid, stamp, back_off=True)
        if error.moved:
            return Opened.NO
        if not error.busy:
            self._refused(facts, error.message)
        return Opened.REFUSED


def _opened_at(read: bytes, facts: PodFacts, stamp: Stamp) -> int:
    """The revision at which this very pod was seen with its gate opened by us; 0 if it was not."""
    try:
        pod = _POD.decode(read)
        revision = int(pod.metadata.resource_version)
    except (msgspec.MsgspecError, ValueError):
        return 0
    gates = [gate.name for gate in pod.spec.scheduling_gates or ()]
    by_this_term = (pod.metadata.annotations or {}).get(v.TERM) == stamp.term
    opened = pod.metadata.uid == facts.uid and v.GATE not in gates and by_this_term
    return revision if opened else 0


def gate_patch(ledger: Ledger, facts: PodFacts, stamp: Stamp, resource: str) -> dict[str, Any]:
    """The merge patch that opens a gate: stamps, the other gates, affinity to the card (P5).
    Without a queue nothing was judged, as nothing is enforced there: the pod gets only the term
    (I3).
    """
    spec: dict[str, Any] = {"schedulingGates": [{"name": name} for name in facts.foreign_gates]}
    cards = [ledger.known_card(name, resource) for name, amount in stamp.cards if amount]
    if cards:
        terms = decode(facts.selector).narrowed(cards)
        spec["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
            }
        }
    # Without the label anybody may have written what stands there, and with it that would count.
    before = {} if facts.labelled else dict.fromkeys(v.STAMP)
    annotations = {**before, v.TERM: stamp.term}
    if stamp.queue:
        annotations |= {v.ALLOCATED: allocated_text(stamp.cards), v.CHARGED_QUEUE: stamp.queue}
    meta = {**precondition(facts), "annotations": annotations, **guard(facts)}
    return {"metadata": meta, "spec": spec}


_UNDECIDED: Final = "is undecided"
"""The topic of such an event: the pod is charged, unlike one that was refused."""


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
        writers: Writers,
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
        self.gate: Final = GateOpener(
            ledger,
            writers.deciding(),
            writers.other(),
            refused=self._refused,
            unsure=self._unsure,
        )
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
        self.retries: Final = Retries[str](self._is_due)
        """By uid of the pod."""
        self._due: OrderedDict[str, None] = OrderedDict()
        """Uids of pods to be put back."""
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
            self.retries.worked(facts.uid)
            self._metrics.release_seconds.observe(max(0.0, self._clock() - since))
            if self._was_notified(facts.uid):
                text = self._released(facts, stamp)
                about = pod_reference(facts)
                self.events.record(about, type="Normal", reason=v.RELEASED, message=text)
        elif opened is not Opened.TOO_LATE:
            self.failed(facts)
        return opened

    def failed(self, facts: PodFacts) -> None:
        """Have a pod that is held back put back later."""
        self._due.pop(facts.uid, None)
        self.retries.failed(facts.uid)

    def put_back(self, over: Callable[[], bool]) -> bool:
        """Put back due pods until it is `over`. Returns whether there are more: a large gang may
        fail whole.
        """
        while self._due:
            if over():
                return True
            uid, _ = self._due.popitem(last=False)
            if uid in self._ledger.pods:
                self._ledger.decisions.put_back(uid)
            else:
                self.retries.worked(uid)
        return False

    def _is_due(self, uid: str) -> None:
        self._due[uid] = None
        self._wake()

    def _was_notified(self, uid: str) -> bool:
        """Whether an event said that the pod waits, or that its gate was not opened; or may have
        said so, before this term.
        """
        record = self._ledger.pods.get(uid)
        if record is not None and (record.notified or record.facts.created < self._began):
            return True
        return self.events.last_reason(uid) is not None

    def _released(self, facts: PodFacts, stamp: Stamp) -> str:
        mode = self._ledger.mode_in(facts.namespace)
        if mode is v.Mode.ENFORCE:
            return gate_messages.released(stamp.queue, stamp.cards)
        return gate_messages.released_unasked(facts.namespace, mode)

    def _refused(self, facts: PodFacts, answer: str) -> None:
        """The opening of its gate is refused: it waits, and is charged nothing."""
        self._metrics.refused_gates.labels("object").inc()
        self._tell(facts, gate_messages.gate_refused(answer))

    def _unsure(self, facts: PodFacts, stamp: Stamp, answer: str) -> None:
        """It is not known whether its gate will still open: until then it stays charged."""
        record = self._ledger.pods.get(facts.uid)
        if record is not None:
            text = gate_messages.gate_undecided(stamp.queue, record.charge, answer)
            self._tell(facts, text, _UNDECIDED)

    def _tell(self, facts: PodFacts, text: str, topic: str = "") -> None:
        record = self._ledger.pods.get(facts.uid)
        if record is not None:
            record.notified = None  # if it waits again, that is news
        # It is tried again at least once a minute, and told of each time: so none is missing long.
        self.events.record(
            pod_reference(facts),
            type="Warning",
            reason=v.GATE_REFUSED,
            message=text,
            topic=topic,
            renewable=True,
        )

    def _done(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            self.failure = self.failure or task.exception()
        self._wake()
