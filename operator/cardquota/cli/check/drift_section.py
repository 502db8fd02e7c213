"""The section `drift`: what queues say of their cards beside what their pods hold."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ...quota.amounts import is_card
from ...quota.ledger.ledger import Ledger
from ...quota.vocabulary import QueueState
from .. import sentences
from .bounded_section import bounded_section
from .checked_cluster import JUDGED_BY, CheckedCluster
from .finding import Finding, FindingKind
from .known_kinds import not_known
from .section import CheckSection
from .timeless_finding import timeless

DRIFT: Final = "drift"
"""The name of the section."""
PAUSE: Final = 3.0
"""Seconds until a difference is looked at again: the status follows within one or two."""


class Difference(NamedTuple):
    """A card of a queue, of which its status says something else than is counted."""

    queue: str
    card: str
    published: int
    counted: int
    closing: bool = False
    """Whether the queue is Closing: then Volcano's webhook lets nobody correct it."""


async def lasting_differences(
    read: CheckedCluster,
    again: Callable[[], Awaitable[CheckedCluster]],
    sleep: Callable[[float], Awaitable[None]],
) -> list[Difference]:
    """Those that are there, and the same, when all is read again after a pause; sorted. Objects are
    read one kind after the other, so while pods come and go there are always some.

    `again` is called only if there are any at first.
    """
    first = differences(read.ledger)
    if not first:
        return []
    await sleep(PAUSE)
    second = await again()
    if not_known(second, JUDGED_BY):
        return []
    return sorted(first & differences(second.ledger))


def differences(ledger: Ledger) -> set[Difference]:
    """Of all queues whose status is one of the operator's. O(queues and their cards)."""
    return set(_differences(ledger))


def _differences(ledger: Ledger) -> Iterator[Difference]:
    for account in ledger.accounts():
        facts = account.facts
        if facts is None or not facts.published:
            continue
        counted = {card: row.allocated for card, row in account.rows.items() if is_card(card)}
        published = facts.published_allocated
        for card in counted.keys() | published.keys():
            said, found = published.get(card, 0), counted.get(card, 0)
            if said != found:
                closing = facts.state is QueueState.CLOSING
                yield Difference(account.name, card, said, found, closing)


def drift_section(
    read: CheckedCluster, found: Sequence[Difference], *, nobody_publishes: bool
) -> CheckSection:
    """`found`: those that last. `nobody_publishes`: then they mean nothing, and there are none."""
    lacking = not_known(read, JUDGED_BY)
    notes = [sentences.not_looked_at(sentences.DRIFT_NOT_KNOWN, lacking)] if lacking else []
    if nobody_publishes:
        notes.append(sentences.NOBODY_PUBLISHES)
    if found:
        notes.append(sentences.COUNTED_WITH)
    return bounded_section(DRIFT, map(_finding, found), notes, complete=not lacking)


def _finding(one: Difference) -> Finding:
    why = sentences.totals_differ(one.card, one.published, one.counted)
    reason = "NumbersOld" if one.closing else "TotalsDiffer"
    return timeless(
        FindingKind.DRIFT,
        ("Queue", "", one.queue),
        reason,
        why,
        sentences.OLD_WHILE_CLOSING if one.closing else sentences.SEE_DRIFT,
        what=sentences.TOTALS_WRONG,
        queue=one.queue,
        cards={one.card: one.counted},
    )
