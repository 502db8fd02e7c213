"""What is reported of objects, as the leader sees it: by an event on each, and in the log.

- Pods that came ungated in audit mode, which refuses and gates nothing: what would not have been
  released.
- Queues with pods that got past admission: webhooks or policies were missing, or the pods were
  there first. They are counted like all others (I3). One event per change, and not one per pod; it
  names no pod, since all users of the queue may read it, from any namespace.
- Queues whose conditions say that something is wrong, where Volcano's definition has no room for
  conditions: `kubectl describe queue` shows events, and does not read annotations.
- Nodes whose cards are not counted (D7, D9), or whose card memory cannot be read: a list of broken
  cards that nobody can read, cards of no readable size, pods whose card is not known, pods of both
  kinds on one node. Until that is put right less is given out than there is.
- Namespaces with an unknown value in our label. Such a label is refused at write: it was written
  before the installation, in audit mode, or while the policy was missing.
- Pods and pod groups of which only the name is kept (P8).
"""

import logging
from collections.abc import Iterable
from functools import partial
from typing import Final

from ..cluster.events import EventRecorder, ObjectReference, pod_reference
from ..loop.timing import Later, Timer, in_loop_later
from ..quota import vocabulary as v
from ..quota.accounts.account import OUTSIDE
from ..quota.amounts import Amount, Amounts, is_card
from ..quota.decisions.judgement import why_not_read
from ..quota.ledger.ledger import Ledger
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.messages import report_messages, request_messages, shortfall_messages
from ..quota.nodes.node_facts import NodeFacts
from ..quota.pods.pod_record import PodRecord
from ..quota.reports.queue_report import QueueReport, ViewCondition
from ..quota.verdict import Shortfall
from ..quota.vocabulary import CPU, Mode, Reason
from ..quota.words import logged

_LOG = logging.getLogger(__name__)
_UNADMITTED_AT_A_TIME: Final = 1_000
"""Pods that one call looks at."""
_GATHER: Final = 2.0
"""Seconds for which pods that got past admission are gathered into one event."""
_AT_A_TIME: Final = 100
"""Nodes, or namespaces, reported in one call: a whole cluster would block the loop."""
_MEMORY_AT_A_TIME: Final = 20
"""Nodes whose memory is looked at in one call. Each may have hundreds of pods."""
_LEFT_OUT_AT_A_TIME: Final = 2
"""Of each kind in one call. There may be very many."""
_GROUPS: Final = f"{v.API_GROUP}/{v.VERSION}"
_KEPT_KINDS: Final = (("Pod", "v1"), ("PodGroup", _GROUPS))


class Reports:
    """What is reported in one term, but for the conditions of queues (`ConditionEvents`); a new
    leader reports what it finds. Belongs to the ledger's loop.
    """

    def __init__(self, ledger: Ledger, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events
        self._past_admission = UnadmittedReports(ledger, events)
        self._namespaces = NamespaceReports(ledger, events)
        self._memory = MemoryReports(ledger, events)
        self._kept = ledger.kept_pods, ledger.kept_groups
        for kept in self._kept:
            kept.ask(asked=True)

    def look(self) -> bool:
        """Report some of what is new. Returns whether that was all."""
        return (
            not report_unadmitted(self._ledger, self._events)
            and report_nodes(self._ledger, self._events)
            and self._memory.look()
            and report_left_out(self._ledger, self._events)
            and self._namespaces.look()
        )

    def charges_changed(self, queues: Iterable[str]) -> None:
        """The charges of these queues have changed."""
        self._past_admission.look(queues)

    def stop(self) -> None:
        """The term is over."""
        self._past_admission.stop()
        for kept in self._kept:
            kept.ask(asked=False)


def report_unadmitted(ledger: Ledger, events: EventRecorder) -> bool:
    """Record an event on each pod that came ungated, in audit mode, while its queue is over quota.

    At most a bounded number in one call. Returns whether there are more.
    """
    for uid in ledger.dirty.unadmitted.take(_UNADMITTED_AT_A_TIME):
        record = ledger.pods.get(uid)
        if record is None or ledger.mode_in(record.facts.namespace) is not Mode.AUDIT:
            continue
        shorts = _shortfalls(ledger, record)
        if shorts:
            never = [short for short in shorts if short.never]
            advice = (
                shortfall_messages.advice_never(never) if never else shortfall_messages.ADVICE_WAIT
            )
            text = shortfall_messages.shortfalls(record.queue, shorts, advice)
            events.record(
                pod_reference(record.facts),
                type="Warning",
                reason=_reason(ledger, record, shorts[0].dimension),
                message=shortfall_messages.audited(text),
            )
    return bool(ledger.dirty.unadmitted)


def _shortfalls(ledger: LedgerReader, record: PodRecord) -> list[Shortfall]:
    """The dimensions of a charged pod in which its queue is over its quota."""
    account = ledger.account(record.queue)
    if account is None or account.facts is None:
        return []
    found = []
    for dimension, amount in record.charge:
        limit, charged = account.limit(dimension), account.row(dimension).charged
        if limit is not None and charged > limit:
            found.append(Shortfall(dimension, amount, charged, limit))
    return sorted(found, key=lambda short: not is_card(short.dimension))


def _reason(ledger: LedgerReader, record: PodRecord, dimension: str) -> Reason:
    if not is_card(dimension):
        return Reason.INSUFFICIENT_CPU if dimension == CPU else Reason.INSUFFICIENT_MEMORY
    account = ledger.account(record.queue)
    known = account is not None and dimension in account.quota
    return Reason.INSUFFICIENT_CARD if known else Reason.CARD_NOT_IN_QUOTA


class UnadmittedReports:
    """Events about pods that got past admission, while we lead. Belongs to the ledger's loop.

    A queue is reported when it has more of them than before. A new leader reports what it finds.
    """

    def __init__(
        self, ledger: LedgerReader, events: EventRecorder, *, later: Later = in_loop_later
    ) -> None:
        """`later` calls a function after a number of seconds."""
        self._ledger = ledger
        self._events = events
        self._later = later
        self._known: dict[str, int] = {}
        """By queue: how many there were. Queues without any are left out."""
        self._timers: dict[str, Timer] = {}
        """Queues that are about to be reported."""

    def look(self, queues: Iterable[str]) -> None:
        """The charges of these queues have changed. Costs O(queues)."""
        for queue in queues:
            account = self._ledger.account(queue)
            if queue == OUTSIDE or account is None or account.facts is None:
                self._note(queue, 0)
            elif queue not in self._timers:
                count = len(account.unadmitted)
                if count > self._known.get(queue, 0):
                    self._timers[queue] = self._later(_GATHER, partial(self._tell, queue))
                else:
                    self._note(queue, count)

    def stop(self) -> None:
        """The term is over: report nothing, and forget what was reported."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._known.clear()

    def _note(self, queue: str, count: int) -> None:
        if count:
            self._known[queue] = count
        else:
            self._known.pop(queue, None)

    def _tell(self, queue: str) -> None:
        del self._timers[queue]
        account = self._ledger.account(queue)
        if account is None or account.facts is None:
            return
        unadmitted = account.unadmitted
        more = len(unadmitted) > self._known.get(queue, 0)
        self._note(queue, len(unadmitted))
        if not more:
            return
        # The reason is the same as last time; the larger number is news.
        self._events.forget(account.facts.uid)
        text = report_messages.unadmitted(queue, len(unadmitted), _amounts(unadmitted.held))
        first = self._ledger.pods[next(iter(unadmitted))].facts
        _LOG.warning("%s (the first is %s)", text, logged(first.namespace, first.name))
        about = ObjectReference("Queue", _GROUPS, "", queue, account.facts.uid)
        self._events.record(about, type="Warning", reason=v.UNADMITTED, message=text)


def _amounts(held: Amounts) -> list[Amount]:
    """Cards come first: quotas are about them."""
    return sorted(held.items(), key=lambda row: (not is_card(row[0]), row[0]))


def report_nodes(ledger: LedgerReader, events: EventRecorder) -> bool:
    """Report changes since the last call (D7, D9), of some nodes. Returns whether of all."""
    for _ in range(_AT_A_TIME):
        found = ledger.nodes.take_report()
        if found is None:
            return True
        facts, problems, others = found
        if problems:
            text = report_messages.not_counted(facts.name, problems, others=others)
            _tell(events, _node(facts), v.NOT_COUNTED, text)
        else:
            events.forget(facts.uid)
    return False


class MemoryReports:
    """Nodes whose card memory cannot be read, in one term: an event when that changes."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events
        self._notified: dict[str, str] = {}
        """By node of which something was told: the sentence."""
        ledger.card_memory.tell_all()

    def look(self) -> bool:
        """Report what is new, of some nodes. Returns whether all are reported."""
        for _ in range(_MEMORY_AT_A_TIME):
            name = self._ledger.card_memory.take_untold()
            if name is None:
                return True
            self._report(name)
        return False

    def _report(self, name: str) -> None:
        memory, facts = self._ledger.card_memory, self._ledger.nodes.get(name)
        pods = [f"{pod.namespace}/{pod.name}" for pod in memory.unknown_pods(name)]
        node = memory.nodes.get(name)
        text = ""
        if node is not None and facts is not None and (memory.problems(name) or pods or node.mixed):
            text = report_messages.card_memory_unreadable(
                name, memory.problems(name), pods, mixed=node.mixed
            )
        if not text:
            self._notified.pop(name, None)
        elif facts is not None and self._notified.get(name) != text:
            self._notified[name] = text
            _tell(self._events, _node(facts), v.CARD_MEMORY_UNREADABLE, text)


class NamespaceReports:
    """Namespaces with an unknown value in our label, in one term: an event once per value."""

    def __init__(self, ledger: LedgerReader, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events
        self._notified: dict[str, str] = {}
        """By namespace with such a label: the value that was reported."""

    def look(self) -> bool:
        """Report what is new, of some namespaces. Returns whether all are reported. Costs in
        proportion to such namespaces, of which there are normally none.
        """
        left = _AT_A_TIME
        found = self._ledger.unknown_modes
        for name in self._notified.keys() - found.keys():
            del self._notified[name]
        for name, facts in found.items():
            if self._notified.get(name) == facts.unknown_mode:
                continue
            if not left:
                return False
            left -= 1
            self._notified[name] = facts.unknown_mode
            text = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
            about = ObjectReference("Namespace", "v1", "", name, facts.uid)
            _tell(self._events, about, v.MODE_UNKNOWN, text)
        return True


def report_left_out(ledger: LedgerReader, events: EventRecorder) -> bool:
    """Tell some of those that were not told in this term. Returns whether none is left."""
    all_told = True
    kept_of = ledger.kept_pods, ledger.kept_groups
    for (kind, version), kept in zip(_KEPT_KINDS, kept_of, strict=True):
        found = kept.take_news(_LEFT_OUT_AT_A_TIME)
        for one in found:
            about = ObjectReference(kind, version, one.namespace, one.name, one.uid)
            text = request_messages.not_read(kind, one.name, why_not_read(kept, one))
            events.record(about, type="Warning", reason=v.Reason.TOO_MUCH_KEPT, message=text)
        all_told = all_told and len(found) < _LEFT_OUT_AT_A_TIME
    return all_told


class ConditionEvents:
    """In one term. Belongs to the ledger's loop."""

    def __init__(self, events: EventRecorder) -> None:
        self._events = events
        self._wrong: dict[str, tuple[str, dict[v.Condition, str]]] = {}
        """By queue: its uid, and the reason of each condition that says that something is wrong."""

    def look(self, queue: str, view: QueueReport | None) -> None:
        """Tell what is news since the last view of the queue; None: it is gone. Numbers are no
        news, and neither is what rolling updates borrow: that comes and goes with each of them.
        """
        uid, before = self._wrong.pop(queue, ("", {}))
        if view is None:
            return
        if uid != view.uid:
            before = {}
        wrong: dict[v.Condition, ViewCondition] = {
            one.type: one
            for one in view.conditions
            if one.type is not v.Condition.BORROWED
            and one.holds is not (one.type is v.Condition.QUOTA_VALID)
        }
        if wrong:
            self._wrong[queue] = view.uid, {kind: one.reason for kind, one in wrong.items()}
        for kind in (*wrong, *(before.keys() - wrong.keys())):
            one = wrong.get(kind)
            if one is None or before.get(kind) != one.reason:
                self._events.record(
                    ObjectReference("Queue", _GROUPS, "", queue, view.uid),
                    type="Warning" if one else "Normal",
                    reason=kind,
                    message=one.message if one else report_messages.condition_over(kind),
                    topic=one.reason if one else "over",
                )


def _node(facts: NodeFacts) -> ObjectReference:
    return ObjectReference("Node", "v1", "", facts.name, facts.uid)


def _tell(events: EventRecorder, about: ObjectReference, reason: str, text: str) -> None:
    """Another sentence under the same reason is news, too."""
    _LOG.warning("%s", text)
    events.forget(about.uid)
    events.record(about, type="Warning", reason=reason, message=text)
