"""T3 the plain way: all assignments are tried, and all pods counted anew."""

from collections import Counter
from collections.abc import Mapping
from itertools import product

from cardquota.quota.account import Account
from cardquota.quota.bucket import Bucket
from cardquota.quota.claim import Claim
from cardquota.quota.judgement import judge_release
from cardquota.quota.ledger import Ledger
from cardquota.quota.pod_record import PodRecord
from cardquota.quota.vocabulary import Mode


def fits(room: Mapping[str, int], *claims: Claim) -> bool:
    """Whether any of all assignments keeps within every room."""
    for choice in product(*(claim.cards for claim in claims)):
        held = Counter[str]()
        for card, claim in zip(choice, claims, strict=True):
            held[card] += claim.amount
        if all(n <= room.get(card, 0) for card, n in held.items()):
            return True
    return False


def claims_and_room(
    ledger: Ledger, account: Account, *, at_create: bool
) -> tuple[list[Claim], dict[str, int]]:
    """Of one queue: who has no card yet, and what all others and all reservations leave."""
    room = dict(account.quota)
    claims = []
    for record in ledger.pods.values():
        if record.queue != account.name:
            continue
        if record.held or (at_create and _could_go(ledger, record)):
            choice = record.request is not None and len(record.request.cards) > 1
            if choice and record.claim is not None and record.bucket is not Bucket.ALLOCATED:
                claims.append(record.claim[0])
                continue
            for dimension, amount in record.charge:
                room[dimension] = room.get(dimension, 0) - amount
    for card in room:
        room[card] -= account.row(card).reserved
    return claims, room


def _could_go(ledger: Ledger, record: PodRecord) -> bool:
    """Whether the gate of a gated Deny pod would open now, were it the only one."""
    if record.bucket is not Bucket.GATED_DENY or not record.releasable:
        return False
    if ledger.mode_in(record.facts.namespace) is not Mode.ENFORCE:
        return True
    return judge_release(ledger, record).fits


def a_gang_is_on_the_way(ledger: Ledger, account: Account) -> bool:
    """Whether members of one wait under policy Deny that goes whole, or not at all."""
    return any(
        record.queue == account.name
        and record.bucket is Bucket.GATED_DENY
        and record.facts.group != ""
        and ledger.groups[record.facts.group].gang
        for record in ledger.pods.values()
    )
