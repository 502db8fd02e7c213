"""The sections `queues`, `nodes` and `namespaces`.

Quotas that cannot be kept, or mean something else than was meant; cards that are not counted (D7,
D9), or are in no vendor row; labels `volcano.sh/card-quota` with a value that means nothing, queues
that take none of a namespace's pods, keys that were meant to be ours, and autoscalers of namespaces
that are not there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...quota import vocabulary as v
from ...quota.accounts.account import OUTSIDE, AccountReader
from ...quota.decisions.queue_write import known_card_meant
from ...quota.ledger.ledger import Ledger
from ...quota.messages import queue_write_messages, report_messages
from ...quota.words import show
from ..commands.cards import cards_without_row
from ..reading import without_row
from .checked_cluster import NAMESPACES, NODES, PODS, QUEUES, CheckedCluster, NamespaceKeys
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
            why = queue_write_messages.no_effect(key, meant)
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
    advice = "correct the node's labels or its device plugin"
    for node, (texts, others) in sorted(ledger.nodes.problems.by_node.items()):
        why = report_messages.not_counted(node, texts, others=others)
        yield Finding(FindingKind.NODE, "Node", "", node, v.NOT_COUNTED, why, advice)
    advice = "add a row to `vendors` in the configuration"
    for card, resource in cards_without_row(ledger, sorted(ledger.nodes.nodes_with())):
        why = without_row(resource)
        yield Finding(FindingKind.NODE, "Card", "", card, "NoVendorRow", why, advice)


_ACCOUNT: Final = "system:serviceaccount:"
"""How the user name of a service account begins."""


def namespaces_section(read: CheckedCluster, autoscalers: Iterable[str] = ()) -> CheckSection:
    """Of values in the words of the namespace's event. `autoscalers`: the users of that setting."""
    lacking = read.not_known({NAMESPACES, QUEUES})
    found = [*_of_values(read), *_queues_of(read), *_of_keys(read.namespace_keys)]
    if NAMESPACES not in lacking and not read.namespace:
        found += _of_autoscalers(read, autoscalers)
    return section_of(NAMESPACES, found, lacking, "faults of namespaces may be missed")


def _of_values(read: CheckedCluster) -> Iterator[Finding]:
    advice = "write enforced, audit or off, or remove the label"
    for name, facts in sorted(read.ledger.unknown_modes.items()):
        if read.namespace in ("", name):
            why = report_messages.namespace_mode_unknown(name, facts.unknown_mode)
            yield _finding(name, v.MODE_UNKNOWN, why, advice, "its label has an unknown value")


def _queues_of(read: CheckedCluster) -> Iterator[Finding]:
    """Namespaces whose pods, if they name no queue, are refused whatever they ask for (E5)."""
    if read.not_known({QUEUES}):
        return
    advice = (
        "name another in scheduling.volcano.sh/queue-name of the namespace, or correct the queue"
    )
    for name, facts in sorted(read.ledger.namespaces.items()):
        if (
            not facts.queue
            or facts.mode in (v.NAMESPACE_OFF, v.NAMESPACE_UNCOVERED)
            or read.namespace not in ("", name)
        ):
            continue
        account, reason = read.ledger.account(facts.queue), v.Reason.QUEUE_NOT_OPEN
        queue = account.facts if account is not None else None
        if queue is None:
            why, reason = "which does not exist", v.Reason.QUEUE_NOT_FOUND
        elif queue.state is not v.QueueState.OPEN:
            why = f"which is {queue.state}"
        elif not queue.admits(name):
            why = f"which is not open to it ({v.NAMESPACES} of the queue)"
        else:
            continue
        why = f"its annotation names Queue <{show(facts.queue)}>, {why}"
        yield _finding(name, reason, why, advice, "its queue takes none of its pods")


def _of_keys(keys: Iterable[NamespaceKeys]) -> Iterator[Finding]:
    for one in keys:
        texts = [
            *map(_misplaced, one.misplaced),
            *(queue_write_messages.no_effect(*pair) for pair in one.annotations),
            *(queue_write_messages.no_effect(*pair, what="label") for pair in one.labels),
        ]
        for why in texts:
            advice, what = "correct the key, or remove it", "a key on it has no effect"
            yield _finding(one.namespace, "UnknownKey", why, advice, what)


def _misplaced(key: str) -> str:
    right, written = "an annotation", "a label"
    if key == v.NAMESPACE_MODE:
        right, written = written, right
    return f"<{show(key)}> is {right}, and has no effect as {written}"


def _of_autoscalers(read: CheckedCluster, users: Iterable[str]) -> Iterator[Finding]:
    """The setting gives rights to accounts that anybody could make."""
    for user in users:
        namespace, _, account = user.removeprefix(_ACCOUNT).partition(":")
        if user.startswith(_ACCOUNT) and account and namespace not in read.ledger.namespaces:
            why = (
                f"scale.autoscalers names <{show(user)}>, and namespace <{show(namespace)}> is "
                "not there"
            )
            advice = "remove it from scale.autoscalers, or create the namespace"
            what = "anybody who creates it is an autoscaler"
            yield _finding(namespace, "AutoscalerUnknown", why, advice, what)


def _finding(name: str, reason: str, why: str, advice: str, what: str) -> Finding:
    return Finding(FindingKind.NAMESPACE, "Namespace", "", name, reason, why, advice, what)
