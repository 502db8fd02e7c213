"""T3 the plain way: all ways to give out cards are tried, and all pods are looked at."""

from collections.abc import Mapping, Sequence
from itertools import product

from cardquota.quota import Mode
from cardquota.quota.accounts import Account
from cardquota.quota.decisions import judge_release
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import ChargeState, PodRecord

Want = tuple[Sequence[str], int]
"""What one member asks for: its cards, and how many of one of them."""


def can_be_served(room: Mapping[str, int], wants: Sequence[Want]) -> bool:
    """Whether there is any way to give each a card of its own within every room."""
    for choice in product(*(cards for cards, _ in wants)):
        left = dict(room)
        for card, (_, amount) in zip(choice, wants, strict=True):
            left[card] = left.get(card, 0) - amount
        if all(left[card] >= 0 for card in choice):
            return True
    return False


def on_their_way(ledger: Ledger, account: Account) -> list[PodRecord]:
    """The gated Deny pods of a queue whose gates would open now, each if it were the only one."""
    return [
        record
        for record in ledger.pods.values()
        if record.queue == account.name
        and record.charge_state is ChargeState.GATED_DENY
        and record.releasable
        and not _is_reserved_for(ledger, record)
        and _could_go(ledger, record)
    ]


def _could_go(ledger: Ledger, record: PodRecord) -> bool:
    if ledger.mode_in(record.facts.namespace) is not Mode.ENFORCE:
        return True
    return judge_release(ledger, record).fits


def _is_reserved_for(ledger: Ledger, record: PodRecord) -> bool:
    group = ledger.groups.get(record.facts.group)
    reservation = group.reservation if group is not None else None
    return reservation is not None and reservation.queue == record.queue


def a_gang_is_on_the_way(ledger: Ledger, account: Account) -> bool:
    """Whether members of one wait under policy Deny that goes whole, or not at all."""
    return any(
        record.queue == account.name
        and record.charge_state is ChargeState.GATED_DENY
        and record.facts.group != ""
        and not ledger.groups[record.facts.group].started
        for record in ledger.pods.values()
    )
