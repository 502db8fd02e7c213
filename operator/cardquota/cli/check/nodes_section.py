"""The section `nodes`: cards that are not counted (D7, D9), and cards that are in no vendor row."""

from collections.abc import Iterator
from typing import Final

from ...quota.ledger.ledger import Ledger
from ...quota.messages import report_messages
from ...quota.vocabulary import NOT_COUNTED
from .. import sentences
from ..cards.card_list import cards_without_row
from .bounded_section import bounded_section
from .checked_cluster import NODES, CheckedCluster
from .finding import Finding, FindingKind
from .known_kinds import not_known
from .section import CheckSection
from .timeless_finding import timeless

NODES_SECTION: Final = "nodes"
"""The name of the section."""


def nodes_section(read: CheckedCluster) -> CheckSection:
    """By node all that is wrong with it, in the words of its event. O(nodes)."""
    lacking = not_known(read, {NODES})
    notes = [sentences.not_looked_at(sentences.NODES_NOT_KNOWN, lacking)] if lacking else []
    return bounded_section(NODES_SECTION, _findings(read.ledger), notes, complete=not lacking)


def _findings(ledger: Ledger) -> Iterator[Finding]:
    problems: dict[str, list[str]] = {}
    for node, problem in ledger.nodes.problems():
        problems.setdefault(node, []).append(problem)
    for node, texts in sorted(problems.items()):
        others = ledger.nodes.counts_others(node)
        why = report_messages.not_counted(node, texts, others=others)
        yield _finding(("Node", "", node), NOT_COUNTED, why, sentences.CORRECT_NODE)
    for card, resource in cards_without_row(ledger, sorted(ledger.nodes.nodes_with())):
        why = sentences.without_row(resource)
        yield _finding(("Card", "", card), "NoVendorRow", why, sentences.ADD_VENDOR)


def _finding(about: tuple[str, str, str], reason: str, why: str, advice: str) -> Finding:
    return timeless(FindingKind.NODE, about, reason, why, advice, what=sentences.CARDS_WRONG)
