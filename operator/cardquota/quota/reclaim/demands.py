"""What those ask for who wait: by card, and by the nodes that they may use (L3)."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import PodRecord
from .plan import Beneficiary, ReclaimWay
from .slots import CardSlots, Kind, pack


@dataclass(slots=True)
class Demand:
    """What a beneficiary needs, with one way to choose its cards."""

    card: str
    """The one that is told: of a choice, or the first that is lacking."""
    kinds: list[Kind]
    short: Mapping[str, int] = field(default_factory=dict)
    """By card: what is lacking of its queue's quota (preempt)."""

    @property
    def asked(self) -> dict[str, int]:
        """By card: how many all ask for together."""
        found: dict[str, int] = {}
        for kind in self.kinds:
            found[kind.card] = found.get(kind.card, 0) + kind.amount * kind.number
        return found

    @property
    def signature(self) -> Hashable:
        """Equal for demands that the same would serve."""
        kinds = ((k.card, k.amount, k.number, id(k.slots)) for k in self.kinds)
        return tuple(kinds), tuple(self.short.items())

    @property
    def least(self) -> int:
        """How many of the card that is told have to come free on some node, at least."""
        kinds = [kind for kind in self.kinds if kind.card == self.card and kind.slots]
        rooms = ((kind.amount, max(slot.room for slot in kind.slots)) for kind in kinds)
        return max((amount - max(0, room) for amount, room in rooms), default=0)

    def fits(self, *, now: bool = False) -> bool:
        """Whether all have room on nodes; `now`: at once."""
        return not any(pack(self.kinds, {}, now=now))


def cards_of(ledger: LedgerReader, one: Beneficiary) -> Iterator[str]:
    """All that it may get."""
    for record in filter(None, map(ledger.pods.get, one.uids)):
        if one.way is ReclaimWay.RECLAIM:
            yield from (card for card, n in record.charge if n and is_card(card))
        elif record.request is not None:
            yield from record.request.cards


def demands_of(
    ledger: LedgerReader, slots: CardSlots, one: Beneficiary, members: Sequence[PodRecord]
) -> Iterator[Demand]:
    """By the choice of cards at the gate, in the user's order; one if there is none."""
    if one.way is ReclaimWay.RECLAIM:
        kinds = _kinds(slots, members, map(_charged, members))
        lacking = (k.card for k, left in zip(kinds, pack(kinds, {}), strict=True) if left)
        yield Demand(next(lacking, one.card), kinds)
        return
    account = ledger.account(one.queue)
    quota = account.quota if account is not None else {}
    usable = [_usable(record) for record in members]
    seen: set[tuple[tuple[str, int], ...]] = set()
    for choice in dict.fromkeys([one.card, *(card for cards, _ in usable for card in cards)]):
        chosen = tuple(
            (choice if choice in cards else next(filter(quota.get, cards), ""), amount)
            for cards, amount in usable
        )
        if chosen not in seen and all(card or not amount for card, amount in chosen):
            seen.add(chosen)
            yield Demand(choice, _kinds(slots, members, chosen))


def _charged(record: PodRecord) -> tuple[str, int]:
    """The card that it was released for, and how many."""
    return next(((card, n) for card, n in record.charge if n and is_card(card)), ("", 0))


def _usable(record: PodRecord) -> tuple[Sequence[str], int]:
    """The cards that it may have at the gate, and how many."""
    request = record.request
    return (request.cards, request.amount) if request is not None and request.amount else ((), 0)


def _kinds(
    slots: CardSlots, members: Sequence[PodRecord], chosen: Iterable[tuple[str, int]]
) -> list[Kind]:
    found: dict[tuple[str, int, int], Kind] = {}
    for record, (card, amount) in zip(members, chosen, strict=True):
        if amount:
            usable = slots.for_pod(record.facts, card, amount)
            key = card, amount, id(usable)
            number = found[key].number + 1 if key in found else 1
            found[key] = Kind(card, amount, number, usable, len(usable))
    return list(found.values())
