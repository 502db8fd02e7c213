"""T3 the plain way: all assignments are tried, and all pods counted anew."""

from collections import Counter
from collections.abc import Mapping
from itertools import product

from cardquota.quota.account import Account
from cardquota.quota.bucket import Bucket
from cardquota.quota.claim import Claim
from cardquota.quota.ledger import Ledger


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
    counted = (Bucket.ALLOCATED, Bucket.OPEN, *([Bucket.GATED_DENY] if at_create else []))
    for record in ledger.pods.values():
        if record.queue != account.name or record.bucket not in counted:
            continue
        if record.claim is not None and record.bucket is not Bucket.ALLOCATED:
            claims.append(record.claim[0])
            continue
        for dimension, amount in record.charge:
            room[dimension] = room.get(dimension, 0) - amount
    for card in room:
        room[card] -= account.row(card).reserved
    return claims, room
