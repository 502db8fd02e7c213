"""Who holds the cards that a pod lacks, for the texts that people of its namespace read.

Found when such a text is written, and no part of a decision: holders change all the time, and no
event is written again for that.
"""

from collections.abc import Sequence
from typing import Final

from ..accounts.account_reader import AccountReader
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..messages import holder_messages
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
    found = _holders(ledger, facts, verdict.queue, verdict.shortfalls)
    several = len(verdict.shortfalls) > 1
    for named in _FEWER:
        held = holder_messages.held_by([one.naming(named) for one in found], of_several=several)
        if not held:
            return verdict
        text = holder_messages.with_held(verdict.text, held)
        if most is None or len(text.encode(errors="replace")) <= most:
            return verdict._replace(text=text)
    return verdict


def holders_text(
    ledger: LedgerReader, facts: PodFacts, queue: str, shorts: Sequence[Shortfall]
) -> str:
    """Who holds the cards that are short; empty if nobody does. Names workloads of the pod's own
    namespace alone: others are one number. Costs a few steps for each of five cards, and
    some for each kind of pods that may still get one of several.
    """
    found = _holders(ledger, facts, queue, shorts)
    return holder_messages.held_by(found, of_several=len(shorts) > 1)


def _holders(
    ledger: LedgerReader, facts: PodFacts, queue: str, shorts: Sequence[Shortfall]
) -> list[HeldBy]:
    account = ledger.account(queue)
    cards = [short.dimension for short in shorts if is_card(short.dimension)]
    if account is None or not cards:
        return []
    return [_held_by(ledger, account, facts, card) for card in cards[:MOST_LISTED]]


def _held_by(ledger: LedgerReader, account: AccountReader, facts: PodFacts, card: str) -> HeldBy:
    queue = account.name
    here = ledger.held_cards.within(queue, card, facts.namespace)
    named = here.most(MOST_NAMED)
    group = ledger.groups.get(facts.group) if facts.group else None
    own = sum(n for name, n in group.rest_in(queue) if name == card) if group is not None else 0
    return HeldBy(
        card,
        tuple(named),
        len(here) - len(named),
        here.total - sum(amount for _, amount in named),
        ledger.held_cards.total(queue, card) - here.total,
        max(0, account.row(card).reserved - own),
        ledger.held_cards.may_hold(queue, card),
    )
