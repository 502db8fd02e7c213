"""The section `queues`: quotas that cannot be kept, or mean something else than was meant."""

from collections.abc import Iterator, Sequence
from typing import Final

from ...quota.accounts.account import OUTSIDE, AccountReader
from ...quota.decisions.queue_write import known_card_meant
from ...quota.ledger.ledger import Ledger
from ...quota.messages import queue_write_messages, report_messages
from .. import sentences
from .bounded_section import bounded_section
from .checked_cluster import NODES, PODS, QUEUES, CheckedCluster
from .finding import Finding, FindingKind
from .known_kinds import not_known
from .section import CheckSection
from .timeless_finding import timeless

_NEEDED: Final = frozenset({QUEUES, NODES, PODS})
MOST_MEANT: Final = 20
"""Rows of which the card is looked for that was meant: some milliseconds each."""


def queues_section(read: CheckedCluster) -> CheckSection:
    """Without all nodes nothing is said of what they have. O(queues and rows of their quotas)."""
    lacking = not_known(read, _NEEDED)
    notes = [sentences.not_looked_at(sentences.QUEUES_NOT_KNOWN, lacking)] if lacking else []
    found = _findings(read, knows_nodes=NODES not in lacking)
    return bounded_section(QUEUES, found, notes, complete=not lacking)


def _findings(read: CheckedCluster, *, knows_nodes: bool) -> Iterator[Finding]:
    """Those that hold most up come first."""
    ledger = read.ledger
    accounts = sorted(
        (one for one in ledger.accounts() if one.facts is not None and one.name != OUTSIDE),
        key=lambda one: one.name,
    )
    for account in accounts:
        yield from _unreadable(account)
    for account in accounts:
        if over := list(account.over()):
            why = report_messages.over_quota(account.name, over)
            yield _finding(account.name, "OverQuota", why, sentences.FREE_SOME)
    if knows_nodes:
        yield from _without_nodes(ledger, accounts)
        yield from _oversold(ledger, accounts)
    for queue, keys in read.queue_keys.items():
        for key, meant in keys:
            why = queue_write_messages.key_means_nothing(key, meant)
            yield _finding(queue, "UnknownKey", why, sentences.CORRECT_KEY)


def _unreadable(account: AccountReader) -> Iterator[Finding]:
    facts = account.facts
    if facts is not None and facts.quota_problem:
        why = report_messages.quota_unreadable(facts.quota_problem, kept=bool(facts.recorded))
        yield _finding(account.name, "QuotaUnreadable", why, sentences.CORRECT_QUOTA)
    if facts is not None and facts.spec_problem:
        why = report_messages.limit_unreadable(facts.spec_problem)
        yield _finding(account.name, "LimitUnreadable", why, sentences.CORRECT_LIMIT)


def _without_nodes(ledger: Ledger, accounts: Sequence[AccountReader]) -> Iterator[Finding]:
    """Rows of cards that no node has. A card is looked for once."""
    meant: dict[str, str] = {}
    for account in accounts:
        for card, amount in sorted(account.quota.items()):
            if not amount or ledger.nodes.has(card):
                continue
            if card not in meant:
                looks = len(meant) < MOST_MEANT
                meant[card] = known_card_meant(ledger, card) if looks else ""
            why = queue_write_messages.row_of_no_node(card, meant[card])
            yield _finding(account.name, "NoSuchCard", why, sentences.CORRECT_ROW)


def _oversold(ledger: Ledger, accounts: Sequence[AccountReader]) -> Iterator[Finding]:
    """By card, once for all queues (Q3). Cards that no node has are told by queue."""
    for card in sorted({card for account in accounts for card in account.quota}):
        quotas, total = ledger.cluster_quota(card), ledger.nodes.total(card)
        if ledger.nodes.has(card) and quotas > total:
            why = report_messages.oversold(card, quotas, total)
            yield timeless(
                FindingKind.QUEUE,
                ("Card", "", card),
                "Oversold",
                why,
                sentences.LOWER_QUOTAS,
                what=sentences.QUEUE_WRONG,
            )


def _finding(queue: str, reason: str, why: str, advice: str) -> Finding:
    about, what = ("Queue", "", queue), sentences.QUEUE_WRONG
    return timeless(FindingKind.QUEUE, about, reason, why, advice, what=what, queue=queue)
