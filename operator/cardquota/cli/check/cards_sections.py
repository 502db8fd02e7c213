"""The sections `queues` and `nodes`: quotas that cannot be kept, or mean something else than was
meant; cards that are not counted (D7, D9), and cards that are in no vendor row.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from ...quota.accounts.account import OUTSIDE, AccountReader
from ...quota.decisions.queue_write import known_card_meant
from ...quota.ledger.ledger import Ledger
from ...quota.messages import queue_write_messages, report_messages
from ...quota.vocabulary import NOT_COUNTED
from ..commands.card_list import cards_without_row
from ..reading import without_row
from .checked_cluster import NODES, PODS, QUEUES, CheckedCluster
from .section import CheckSection, Finding, FindingKind, section_of

_NEEDED: Final = frozenset({QUEUES, NODES, PODS})
_MOST_MEANT: Final = 20
"""Rows of which the card is looked for that was meant: some milliseconds each."""


def queues_section(read: CheckedCluster) -> CheckSection:
    """Without all nodes nothing is said of what they have. O(queues and rows of their quotas)."""
    lacking = read.not_known(_NEEDED)
    found = _of_queues(read, knows_nodes=NODES not in lacking)
    return section_of(QUEUES, found, lacking, "faults of queues may be missed")


def _of_queues(read: CheckedCluster, *, knows_nodes: bool) -> Iterator[Finding]:
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
            yield _queue(account.name, "OverQuota", why, "free some of it, or raise the quota")
    if knows_nodes:
        yield from _without_nodes(ledger, accounts)
        yield from _oversold(ledger, accounts)
    for queue, keys in read.queue_keys.items():
        for key, meant in keys:
            why = queue_write_messages.key_means_nothing(key, meant)
            yield _queue(queue, "UnknownKey", why, "correct the key, or remove it")


def _unreadable(account: AccountReader) -> Iterator[Finding]:
    facts = account.facts
    if facts is not None and facts.quota_problem:
        why = report_messages.quota_unreadable(facts.quota_problem, kept=bool(facts.recorded))
        advice = "correct the annotation volcano.sh/card.quota of the queue"
        yield _queue(account.name, "QuotaUnreadable", why, advice)
    if facts is not None and facts.spec_problem:
        why = report_messages.limit_unreadable(facts.spec_problem)
        yield _queue(account.name, "LimitUnreadable", why, "correct the limit")


def _without_nodes(ledger: Ledger, accounts: Sequence[AccountReader]) -> Iterator[Finding]:
    """Rows of cards that no node has. A card is looked for once."""
    meant: dict[str, str] = {}
    for account in accounts:
        for card, amount in sorted(account.quota.items()):
            if not amount or ledger.nodes.has(card):
                continue
            if card not in meant:
                looks = len(meant) < _MOST_MEANT
                meant[card] = known_card_meant(ledger, card) if looks else ""
            why = queue_write_messages.row_of_no_node(card, meant[card])
            advice = "correct the row, or add nodes with this card"
            yield _queue(account.name, "NoSuchCard", why, advice)


def _oversold(ledger: Ledger, accounts: Sequence[AccountReader]) -> Iterator[Finding]:
    """By card, once for all queues (Q3). Cards that no node has are told by queue."""
    for card in sorted({card for account in accounts for card in account.quota}):
        quotas, total = ledger.quotas.of(card), ledger.nodes.total(card)
        if ledger.nodes.has(card) and quotas > total:
            why = report_messages.oversold(card, quotas, total)
            advice = "lower quotas, or add nodes: pods may pass the gate and find no node"
            yield Finding(FindingKind.QUEUE, "Card", "", card, "Oversold", why, advice)


def _queue(queue: str, reason: str, why: str, advice: str) -> Finding:
    return Finding(FindingKind.QUEUE, "Queue", "", queue, reason, why, advice, queue=queue)


def nodes_section(read: CheckedCluster) -> CheckSection:
    """By node all that is wrong with it, in the words of its event. O(nodes)."""
    lacking = read.not_known({NODES})
    missed = "cards that are not counted may be missed"
    return section_of("nodes", _of_nodes(read.ledger), lacking, missed)


def _of_nodes(ledger: Ledger) -> Iterator[Finding]:
    problems: dict[str, list[str]] = {}
    for node, problem in ledger.nodes.problems:
        problems.setdefault(node, []).append(problem)
    advice = "correct the node's labels or its device plugin"
    for node, texts in sorted(problems.items()):
        others = ledger.nodes.problems.counts_others(node)
        why = report_messages.not_counted(node, texts, others=others)
        yield Finding(FindingKind.NODE, "Node", "", node, NOT_COUNTED, why, advice)
    advice = "add a row to `vendors` in the configuration"
    for card, resource in cards_without_row(ledger, sorted(ledger.nodes.nodes_with())):
        why = without_row(resource)
        yield Finding(FindingKind.NODE, "Card", "", card, "NoVendorRow", why, advice)
