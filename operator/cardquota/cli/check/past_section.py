"""The section `past`: pods that are charged and never passed their gate (I3), by queue.

Pods that use cards outside every queue are a note in `outside`.
"""

from collections.abc import Iterator
from typing import Final

from ...quota.accounts.account import OUTSIDE, AccountReader
from ...quota.amounts import is_card
from ...quota.messages import report_messages
from ...quota.vocabulary import UNADMITTED
from .. import sentences
from .bounded_section import bounded_section
from .checked_cluster import JUDGED_BY, CheckedCluster
from .finding import Finding, FindingKind
from .known_kinds import not_known
from .section import CheckSection
from .timeless_finding import timeless

PAST: Final = "past"
"""The name of the section."""


def past_section(read: CheckedCluster) -> CheckSection:
    """In the words of the queue's event. In a namespace only its pods count. It also names objects
    that cannot be read: each of them may decide whether a pod came past. O(such pods).
    """
    lacking = not_known(read, JUDGED_BY)
    notes = [sentences.not_looked_at(sentences.PAST_NOT_KNOWN, lacking)] if lacking else []
    return bounded_section(PAST, _findings(read), [*read.unreadable, *notes], complete=not lacking)


def _findings(read: CheckedCluster) -> Iterator[Finding]:
    for account in sorted(read.ledger.accounts(), key=lambda one: one.name):
        if account.name == OUTSIDE or not account.unadmitted:
            continue
        pods, held = _pods_and_held(read, account)
        if not pods:
            continue
        amounts = sorted(held.items(), key=lambda row: (not is_card(row[0]), row[0]))
        why = report_messages.unadmitted(account.name, pods, amounts)
        yield timeless(
            FindingKind.PAST,
            ("Queue", "", account.name),
            UNADMITTED,
            why,
            sentences.DELETE_PODS,
            what=sentences.CAME_PAST,
            queue=account.name,
            cards={name: amount for name, amount in amounts if is_card(name)},
        )


def _pods_and_held(read: CheckedCluster, account: AccountReader) -> tuple[int, dict[str, int]]:
    held: dict[str, int] = {}
    pods = 0
    for uid in account.unadmitted:
        record = read.ledger.pods[uid]
        if read.namespace not in ("", record.facts.namespace):
            continue
        pods += 1
        for name, amount in record.charge:
            held[name] = held.get(name, 0) + amount
    return pods, held
