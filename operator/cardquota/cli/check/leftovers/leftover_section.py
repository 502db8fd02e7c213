"""The section `leftover`: what is left over of another way to hold quotas, by kind of leftover."""

from collections.abc import Iterator, Mapping
from typing import Final

from ....quota.accounts.account import OUTSIDE
from ....quota.accounts.account_reader import AccountReader
from ....quota.accounts.ignored_cards import ignored_cards
from ....quota.amounts import is_card
from ....quota.moments import seconds_of
from ....quota.pods.pod_facts import State
from ... import sentences
from ..bounded_section import bounded_section
from ..checked_cluster import CheckedCluster
from ..finding import Finding, FindingKind
from ..section import CheckSection
from .leftover_objects import Leftovers, NotedObject

LEFTOVER: Final = "leftover"
"""The name of the section."""
_NO_CARDS: Final[Mapping[str, int]] = {}


def leftover_section(read: CheckedCluster, left: Leftovers, now: float) -> CheckSection:
    """`left`: what was read beside the ledger. `now`: seconds since 1970."""
    return bounded_section(LEFTOVER, _findings(read, left, now), left.notes)


def _findings(read: CheckedCluster, left: Leftovers, now: float) -> Iterator[Finding]:
    """Those that decide first: who else holds quotas, which queue holds none, then the rest."""
    objects = left.objects
    for one in objects:
        for plugin in one.plugins:
            why, advice = sentences.plugin_named(plugin), sentences.PLUGIN_OUT
            yield _finding(one, now, "PluginConfigured", why, advice)
    for one in left.told_by_plugin.values():
        yield _finding(one, now, "PluginActive", sentences.PLUGIN_TELLS, sentences.PLUGIN_OUT)
    for one in objects:
        yield from _of_queue(read, one, now)
    yield from _without_quota(read, objects, now)
    yield from _without_gate(read, now)
    for one in objects:
        yield from _of_annotations(one, now)


def _of_queue(read: CheckedCluster, one: NotedObject, now: float) -> Iterator[Finding]:
    ignored = ignored_cards(one.spec, read.ledger.counts) if one.spec is not None else ()
    if not ignored:
        return
    named = [(found.field, found.resource, found.amount) for found in ignored]
    why = sentences.cards_in_spec(named, has_quota=one.has_quota)
    advice = sentences.SPEC_OUT if one.has_quota else sentences.WRITE_QUOTA
    held = {} if one.has_quota else _held(read.ledger.account(one.name))
    yield _finding(one, now, "CardsInSpec", why, advice, queue=one.name, cards=held)


def _without_quota(
    read: CheckedCluster, objects: list[NotedObject], now: float
) -> Iterator[Finding]:
    """Queues without a quota in which cards are held, though nothing in them looks like one."""
    for one in objects:
        if one.spec is None or one.has_quota or ignored_cards(one.spec, read.ledger.counts):
            continue
        held = _held(read.ledger.account(one.name))
        if held:
            why, advice = sentences.HELD_WITHOUT_QUOTA, sentences.WRITE_QUOTA
            yield _finding(one, now, "QuotaMissing", why, advice, queue=one.name, cards=held)


def _held(account: AccountReader | None) -> dict[str, int]:
    rows = account.rows.items() if account is not None else ()
    held = {card: row.allocated + row.inqueue for card, row in rows if is_card(card)}
    return {card: amount for card, amount in sorted(held.items()) if amount}


def _without_gate(read: CheckedCluster, now: float) -> Iterator[Finding]:
    """Pods from before the installation that wait for a node: no gate holds them."""
    for account in sorted(read.ledger.accounts(), key=lambda one: one.name):
        if account.name == OUTSIDE:
            continue
        for uid in account.unadmitted:
            record = read.ledger.pods[uid]
            facts = record.facts
            if facts.state is not State.OPEN or read.namespace not in ("", facts.namespace):
                continue
            cards = {name: amount for name, amount in record.charge if is_card(name)}
            if cards:
                since = seconds_of(facts.created)
                one = NotedObject("Pod", facts.namespace, facts.name, since)
                why, advice = sentences.WITHOUT_GATE, sentences.CREATE_ANEW
                yield _finding(
                    one, now, "WaitsWithoutGate", why, advice, queue=account.name, cards=cards
                )


def _of_annotations(one: NotedObject, now: float) -> Iterator[Finding]:
    if one.problem:
        yield _finding(one, now, "RequestUnreadable", one.problem, sentences.CORRECT_IT)
    if one.unknown:
        why = sentences.keys_unknown(one.unknown)
        yield _finding(one, now, "UnknownKey", why, sentences.CORRECT_IT)


def _finding(
    one: NotedObject,
    now: float,
    reason: str,
    why: str,
    advice: str,
    *,
    queue: str | None = None,
    cards: Mapping[str, int] = _NO_CARDS,
) -> Finding:
    return Finding(
        finding=FindingKind.LEFT_OVER,
        kind=one.kind,
        namespace=one.namespace,
        name=one.name,
        queue=queue,
        cards=cards,
        since=one.since,
        age=None if one.since is None else max(0, int(now - one.since)),
        reason=reason,
        what=sentences.LEFT_OVER,
        why=why,
        advice=advice,
    )
