"""Pods and pod groups of which only the name is kept are told so, by an event on each (P8)."""

from typing import Final

from ...cluster.events.event import ObjectReference
from ...cluster.events.events import EventRecorder
from ...quota import vocabulary as v
from ...quota.decisions.judgement import why_not_read
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import request_messages

_KINDS: Final = (("Pod", "v1"), ("PodGroup", f"{v.API_GROUP}/{v.VERSION}"))
_AT_A_TIME: Final = 2
"""Of each kind in one call. There may be very many."""


def ask_for_left_out(ledger: LedgerReader, *, asked: bool) -> None:
    """Whether they are told from now on, first all that there are. Costs by their number."""
    for kept in (ledger.kept_pods, ledger.kept_groups):
        kept.ask(asked=asked)


def report_left_out(ledger: LedgerReader, events: EventRecorder) -> bool:
    """Tell some of those that were not told in this term. Returns whether none is left."""
    all_told = True
    for (kind, version), kept in zip(_KINDS, (ledger.kept_pods, ledger.kept_groups), strict=True):
        found = kept.take_news(_AT_A_TIME)
        for one in found:
            about = ObjectReference(kind, version, one.namespace, one.name, one.uid)
            text = request_messages.not_read(kind, one.name, why_not_read(kept, one))
            events.record(about, type="Warning", reason=v.Reason.TOO_MUCH_KEPT, message=text)
        all_told = all_told and len(found) < _AT_A_TIME
    return all_told
