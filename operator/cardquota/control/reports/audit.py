"""Audit mode refuses and gates nothing, and reports what would not have been let through."""

from typing import Final

from ...cluster.events.events import EventRecorder
from ...quota.amounts import is_card
from ...quota.ledger.ledger import Ledger
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.messages import shortfall_messages
from ...quota.pods.pod_record import PodRecord
from ...quota.verdict import Shortfall
from ...quota.vocabulary import CPU, Mode, Reason
from ..references import pod_reference

_AT_A_TIME: Final = 1_000
"""Pods that one call looks at."""


def report_unadmitted(ledger: Ledger, events: EventRecorder) -> bool:
    """Record an event on each pod that came ungated, in audit mode, while its queue is over quota.

    At most a bounded number in one call. Returns whether there are more.
    """
    for uid in ledger.dirty.take_unadmitted(_AT_A_TIME):
        record = ledger.pods.get(uid)
        if record is None or ledger.mode_in(record.facts.namespace) is not Mode.AUDIT:
            continue
        shorts = shortfalls(ledger, record)
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
    return ledger.dirty.unadmitted > 0


def shortfalls(ledger: LedgerReader, record: PodRecord) -> list[Shortfall]:
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
