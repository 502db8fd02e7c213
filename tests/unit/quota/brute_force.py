"""T3 the plain way: all assignments are tried, and all pods counted anew."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from cardquota.quota import CPU, MEMORY, Mode
from cardquota.quota.accounts import Account
from cardquota.quota.assignment import Claim
from cardquota.quota.decisions import judge_release
from cardquota.quota.ledger import Ledger
from cardquota.quota.ledger.groups import PodGroupState
from cardquota.quota.pods import ChargeState, PodRecord


@dataclass
class BruteForceQueue:
    """One queue: who has no card yet, and what all others leave of it."""

    room: dict[str, int]
    """Beside what pods with one card hold that no reservation is for."""
    claims: list[tuple[Claim, str]] = field(default_factory=list)
    """Each with the key of its pod's group if something is reserved for that, else empty."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By such a group and card: what its members will hold that have no choice."""
    reserved: dict[tuple[str, str], int] = field(default_factory=dict)
    """By such a group and card: what is left of its reservation."""

    @property
    def even(self) -> bool:
        """Whether no member with a choice could use what is reserved for a part of what it asks."""
        if any("|" in card for _, card in self.reserved):
            return False  # a member may use a choice that is reserved, which is not tried here
        for group in {group for _, group in self.claims if group}:
            amounts = {claim.amount for claim, of in self.claims if of == group}
            left = [n - self.asked[key] for key, n in self.reserved.items() if key[0] == group]
            if any(n > 0 and (len(amounts) > 1 or n % max(amounts)) for n in left):
                return False
        return True

    def fits(self, *more: Claim) -> bool:
        """Whether any of all assignments keeps within every room, with others beside them.

        A group holds what is reserved for it or what its members hold, whichever is more.
        """
        claims = [*self.claims, *((claim, "") for claim in more)]
        for choice in product(*(claim.cards for claim, _ in claims)):
            members, held = Counter(self.asked), Counter[str]()
            for card, (claim, group) in zip(choice, claims, strict=True):
                if group:
                    members[group, card] += claim.amount
                else:
                    held[card] += claim.amount
            for key in members.keys() | self.reserved.keys():
                held[key[1]] += max(members[key], self.reserved.get(key, 0))
            del held[CPU], held[MEMORY]
            if all(n <= self.room.get(card, 0) for card, n in held.items()):
                return True
        return False


def fits(room: Mapping[str, int], *claims: Claim) -> bool:
    """Whether any of all assignments keeps within every room, with nothing reserved."""
    return BruteForceQueue(dict(room)).fits(*claims)


def plainly(ledger: Ledger, account: Account, *, at_create: bool) -> BruteForceQueue:
    """All pods and groups of a queue, counted anew."""
    found = BruteForceQueue(dict(account.quota))
    left: dict[str, Counter[str]] = {}
    for key, state in ledger.groups.items():
        if state.reservation is not None and state.reservation.queue == account.name:
            left[key] = Counter(dict(state.reservation.amounts))
    for record in ledger.pods.values():
        counts = record.held or (at_create and _could_go(ledger, record))
        if record.queue != account.name or not counts:
            continue
        group = record.facts.group if record.facts.group in left else ""
        choice = record.request is not None and len(record.request.cards) > 1
        if choice and record.claim is not None and record.charge_state is not ChargeState.ALLOCATED:
            # Of one that got past us the card that it is shown with counts for the reservation.
            found.claims.append((record.claim[0], "" if record.held else group))
            if record.held and group:
                left[group].subtract(dict(record.charge))
            continue
        if group and not record.held:
            found.asked.update({(group, dimension): n for dimension, n in record.charge})
            continue
        for dimension, amount in _taken(record):
            found.room[dimension] = found.room.get(dimension, 0) - amount
        if group:
            left[group].subtract(dict(record.charge))
    for key, amounts in left.items():
        _count_choices(found, amounts)
        found.reserved.update(((key, card), max(0, n)) for card, n in amounts.items())
    for state in ledger.groups.values():
        _count_replaced(found, account, state)
    return found


def _count_replaced(found: BruteForceQueue, account: Account, state: PodGroupState) -> None:
    """Until it is known to be replaced, what a group had reserved is there for nobody."""
    if state.replaced is None or state.replaced.queue != account.name:
        return
    kept = Counter[str]()
    for record in state.members.values():
        kept.update(dict(record.charge) if record.held and record.queue == account.name else {})
    if state.reservation is not None and state.reservation.queue == account.name:
        kept |= Counter(dict(state.reservation.amounts))
    left = Counter(dict(state.replaced.amounts))
    left.subtract(kept)
    _count_choices(found, left)
    for dimension, amount in left.items():
        if "|" not in dimension and amount > 0:
            found.room[dimension] = found.room.get(dimension, 0) - amount


def _taken(record: PodRecord) -> list[tuple[str, int]]:
    """What a pod holds, or is let through with. Where nothing is enforced, one that asks for cards
    in a way that cannot be told is let through with none.
    """
    if record.held or record.request is None or record.request.cards:
        return list(record.charge)
    return [(name, n) for name, n in record.charge if name in (CPU, MEMORY)]


def _count_choices(found: BruteForceQueue, amounts: Counter[str]) -> None:
    """What was reserved of one card or another claims one by one what members do not hold of it."""
    for choice in sorted(dimension for dimension in amounts if "|" in dimension):
        cards = choice.split("|")
        for card in cards:
            used = min(amounts[choice], max(0, -amounts[card]))
            amounts[choice] -= used
            amounts[card] += used
        claim = Claim(tuple(sorted(cards)), 1)
        found.claims += [(claim, "")] * amounts[choice]


def _could_go(ledger: Ledger, record: PodRecord) -> bool:
    """Whether the gate of a gated Deny pod would open now, were it the only one."""
    if record.charge_state is not ChargeState.GATED_DENY or not record.releasable:
        return False
    if ledger.mode_in(record.facts.namespace) is not Mode.ENFORCE:
        return True
    return judge_release(ledger, record).fits


def a_gang_is_on_the_way(ledger: Ledger, account: Account) -> bool:
    """Whether members of one wait under policy Deny that goes whole, or not at all."""
    return any(
        record.queue == account.name
        and record.charge_state is ChargeState.GATED_DENY
        and record.facts.group != ""
        and not ledger.groups[record.facts.group].started
        for record in ledger.pods.values()
    )
