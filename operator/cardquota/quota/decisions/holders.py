"""Who holds the cards that a pod or a group lacks, for the texts that people of its namespace read.

Found when such a text is written, and no part of a decision: holders change all the time, and no
event or condition is written again for that.
"""

from collections.abc import Sequence
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import shortfall_messages
from ..pods.pod_facts import PodFacts
from ..verdict import HeldBy, Outcome, Shortfall, Verdict
from ..words import MOST_LISTED

MOST_NAMED: Final = 3
"""Workloads of the same namespace that are named, those that hold most first."""
_FEWER: Final = (MOST_NAMED, 1, 0)
"""How many of them are named for each card, until the text is short enough."""


def with_holders(
    ledger: LedgerReader, facts: PodFacts, verdict: Verdict, *, most: int | None = None
) -> Verdict:
    """The verdict, its text with who holds what the pod lacks, behind the advice. The same where
    waiting does not help, and where it lacks no card.

    `most`: bytes of UTF-8 that a text may have which says who holds; None: any number. Then fewer
    workloads are named, and nobody if that is too long as well.
    """
    if verdict.outcome is not Outcome.WAITS:
        return verdict
    lacks = [short.dimension for short in verdict.shortfalls]
    found = _holders(ledger, facts.namespace, facts.group, verdict.queue, lacks)
    text = _with_held(verdict.text, found, most, of_several=len(lacks) > 1)
    return verdict._replace(text=text)


def with_holders_of(
    ledger: LedgerReader, group: str, queue: str, text: str, lacks: Sequence[str], *, most: int
) -> str:
    """The same for the text of a group, by its key, that lacks these dimensions in a queue."""
    namespace = group.partition("/")[0]
    found = _holders(ledger, namespace, group, queue, lacks)
    return _with_held(text, found, most, of_several=len(lacks) > 1)


def lacked(verdict: Verdict) -> tuple[str, ...]:
    """The dimensions of which it is told who holds them: none where waiting does not help."""
    if verdict.outcome is not Outcome.WAITS:
        return ()
    return tuple(short.dimension for short in verdict.shortfalls[:MOST_LISTED])


def _with_held(text: str, found: Sequence[HeldBy], most: int | None, *, of_several: bool) -> str:
    for named in _FEWER:
        held = shortfall_messages.held_by(
            [one.naming(named) for one in found], of_several=of_several
        )
        if not held:
            return text
        longer = shortfall_messages.with_held(text, held)
        if most is None or len(longer.encode(errors="replace")) <= most:
            return longer
    return text


def holders_text(
    ledger: LedgerReader, facts: PodFacts, queue: str, shorts: Sequence[Shortfall]
) -> str:
    """Who holds the cards that are short; empty if nobody does. Names workloads of the pod's own
    namespace alone: others are one number. Costs a few steps for each of five cards.
    """
    lacks = [short.dimension for short in shorts]
    found = _holders(ledger, facts.namespace, facts.group, queue, lacks)
    return shortfall_messages.held_by(found, of_several=len(shorts) > 1)


def _holders(
    ledger: LedgerReader, namespace: str, own: str, queue: str, lacks: Sequence[str]
) -> list[HeldBy]:
    """`own`: the key of the group that asks, or whose member does; empty: there is none."""
    account = ledger.account(queue)
    cards = [dimension for dimension in lacks if is_card(dimension)]
    if account is None or not cards:
        return []
    group = ledger.groups.get(own) if own else None
    return [_held_by(ledger, account, namespace, group, card) for card in cards[:MOST_LISTED]]


def _held_by(
    ledger: LedgerReader,
    account: AccountReader,
    namespace: str,
    group: PodGroupState | None,
    card: str,
) -> HeldBy:
    queue = account.name
    here = ledger.held_cards.within(queue, card, namespace)
    named = here.most(MOST_NAMED)
    own = sum(n for name, n in group.rest_in(queue) if name == card) if group is not None else 0
    row = account.row(card)
    return HeldBy(
        card,
        tuple(named),
        len(here.amounts) - len(named),
        here.total - sum(amount for _, amount in named),
        row.charged - row.reserved - here.total,
        max(0, row.reserved - own),
    )
