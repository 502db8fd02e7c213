"""Logical cards, or slots: on which card each one is, and which card a container gets. No I/O.

Each card has some slots, and a slot is on a card: at first its own. The kubelet picks the slot of a
container without knowing cards. When the container starts, the card is chosen, and if its slot is
on another one, that slot changes places with a free one there. So each card keeps its number of
slots, and who has a slot keeps its card.

All functions return new slots and leave those that they are given. Their result does not depend on
the order of these (K6).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

_FEWEST: Final = 2
"""Slots of a card."""


class CardBind(StrEnum):
    """How the card of a container is chosen."""

    BALANCE = "balance"
    """The least loaded card with a free slot."""
    SAME_POD = "same-pod"
    """A card that the pod has already, else as `balance`."""


@dataclass(slots=True, frozen=True, kw_only=True)
class SlotCard:
    """A card of the node, as far as the choice depends on it."""

    uuid: str
    index: int
    slots: int
    memory: int
    """Of one slot, MiB."""
    load: float
    """0 to 100; what it means is the caller's."""
    problem: str = ""
    """Why no container can use it; empty: it is healthy."""


class SlotHolder(NamedTuple):
    """A container that has a slot."""

    namespace: str
    pod: str
    container: str
    uid: str
    """Of the pod: one of the same name may come after it."""


@dataclass(slots=True, frozen=True)
class Slot:
    """Where a slot is, and who has it."""

    card: str
    """UUID."""
    holder: SlotHolder | None = None
    for_pod: bool = False
    """Whether its card was chosen by `same-pod`: then other containers of the pod follow it."""


Slots = Mapping[str, Slot]
"""By ID: `<uuid of its own card>_<number>`."""


class SlotError(Exception):
    """A container gets no card; the text says why."""


def slots_of(memory: int, unit: int) -> int:
    """How many slots a card has; both in MiB."""
    return max(_FEWEST, memory // unit)


def complete(cards: Sequence[SlotCard], known: Slots) -> Slots:
    """All slots of these cards, where they are known to be. Others are on their own card, or if
    that is full on the first of the same size. What is known of slots or cards that are not there,
    or contradicts itself, does not count.
    """
    own = {f"{card.uuid}_{number}": card for card in cards for number in range(card.slots)}
    room = {card.uuid: card.slots for card in cards}
    sizes = {card.uuid: card.memory for card in cards}
    found: dict[str, Slot] = {}

    def put(name: str, slot: Slot) -> None:
        if name not in found and room.get(slot.card) and sizes[slot.card] == own[name].memory:
            room[slot.card] -= 1
            found[name] = slot

    for name in own:
        if name in known:
            put(name, known[name])
    for name, card in own.items():
        put(name, Slot(card.uuid))
    for name in [name for name in own if name not in found]:
        for card in cards:
            put(name, Slot(card.uuid))
    return {name: found[name] for name in own}


def released(slots: Slots, gone: Collection[str]) -> Slots:
    """Without the holders of these slots. Each slot stays where it is."""
    return {name: Slot(slot.card) if name in gone else slot for name, slot in slots.items()}


def placed(
    cards: Sequence[SlotCard],
    slots: Slots,
    wanted: Sequence[str],
    others: Collection[str],
    holder: SlotHolder,
    by: CardBind,
) -> Slots:
    """With the slots of a container that starts, each on its card. One that starts again keeps its
    cards; several slots of one container stay where they are. Raises SlotError.

    `wanted`: its slots. Whoever had one of them before is gone. `others`: slots of containers that
    may not have started yet; they stay where they are too.
    """
    by_uuid = {card.uuid: card for card in cards}
    lost = next((name for name in wanted if name not in slots), None)
    if lost is not None:
        raise SlotError(f"<{lost}> is no slot of this node's cards")
    again = all(slots[name].holder == holder for name in wanted)
    if not again:
        slots = {**slots, **{name: Slot(slots[name].card) for name in wanted}}
        if len(wanted) == 1:
            slots = _on_target(by_uuid, slots, wanted[0], others, holder, by)
    for card in (by_uuid[slots[name].card] for name in wanted):
        if card.problem:
            raise SlotError(f"card <{card.index}> is sick: {card.problem}")
    if again:
        return slots
    for_pod = by is CardBind.SAME_POD
    return {**slots, **{name: Slot(slots[name].card, holder, for_pod) for name in wanted}}


def _on_target(
    by_uuid: Mapping[str, SlotCard],
    slots: Slots,
    name: str,
    others: Collection[str],
    holder: SlotHolder,
    by: CardBind,
) -> Slots:
    """The slot on the card that is chosen for it, in exchange for a free one of there."""
    original = by_uuid[slots[name].card]
    free = {n for n, slot in slots.items() if slot.holder is None and n not in others}
    taken = Counter(slot.card for n, slot in slots.items() if n not in free)
    spare = [
        card
        for card in by_uuid.values()
        if not card.problem and taken[card.uuid] < card.slots and card.memory == original.memory
    ]
    if by is CardBind.SAME_POD:
        of_pod = {
            slot.card
            for slot in slots.values()
            if slot.for_pod and slot.holder is not None and slot.holder.uid == holder.uid
        }
        spare = [card for card in spare if card.uuid in of_pod] or spare
    if not spare:
        why = f"card <{original.index}> is sick: {original.problem}"
        raise SlotError(f"{why}, and no other card has a free slot of <{original.memory}> MiB")
    target = min(
        spare, key=lambda card: (card.load, card is not original, taken[card.uuid], card.index)
    )
    if target is original:
        return slots
    other = min(n for n in free if slots[n].card == target.uuid)
    return {**slots, name: Slot(target.uuid), other: Slot(original.uuid)}


def by_preference(
    cards: Sequence[SlotCard], slots: Slots, available: Iterable[str]
) -> Sequence[str]:
    """The available slots, those on the least loaded healthy card first; of equal ones on the card
    of which most are available, so that those who are about to start count too.
    """
    by_uuid = {card.uuid: card for card in cards}
    known = [name for name in set(available) if name in slots]
    free = Counter(slots[name].card for name in known)

    def rank(name: str) -> tuple[bool, float, int, int, str]:
        card = by_uuid[slots[name].card]
        taken = card.slots - free[card.uuid]
        return bool(card.problem), card.load, taken, card.index, name

    return sorted(known, key=rank)
