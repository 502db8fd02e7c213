"""Logical cards: `cardquota.volcano.sh/slot`, some device IDs for each card.

The card of a container is chosen when it starts, by how loaded the cards are then and by what its
pod says (`volcano.sh/card.bind`). `slot_rule` has the rule; here it is asked and carried out.
"""

from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Final

from cardquota.quota import vocabulary as v
from cardquota.quota.words import show

from .container_starts import INDEXES, CardsGiven, ContainerStarts, StartingContainer
from .inventory import NodeCard
from .kubelet import ContainerOwner, OfferedDevice, RefusedError
from .kubelet import device_plugin_pb2 as wire
from .last_seen import LastSeen
from .node_cards import NodeCards
from .slot_file import SLOTS, SlotFile, text_of
from .slot_rule import (
    CardBind,
    SlotCard,
    SlotError,
    SlotHolder,
    Slots,
    by_preference,
    complete,
    placed,
    released,
    slots_of,
)

KIND: Final = "cardquota.volcano.sh/slot"
"""Of the CDI devices."""


SlotGiven = tuple[str, tuple[str, str, str]]
"""A slot, and the namespace, pod and container that have it."""


class SlotLoad(StrEnum):
    """What the load of a card is."""

    UTILIZATION = "utilization"
    """Percent of the last sample in which it worked. A card that does not say counts as busy."""
    MEMORY = "memory"
    """Percent of its memory that processes hold."""

    def of(self, card: NodeCard) -> float:
        """0 to 100."""
        if self is SlotLoad.MEMORY:
            return 100.0 * card.used / card.memory
        return 100.0 if card.utilization is None else float(card.utilization)


class SlotResource:
    """What a container gets that asks for slots. It keeps nothing that is not in its file."""

    def __init__(
        self,
        cards: NodeCards,
        starts: ContainerStarts,
        file: SlotFile,
        unit: int,
        load: SlotLoad,
        held: LastSeen[SlotGiven],
    ) -> None:
        """`unit`: MiB of a slot, at least."""
        self.name = starts.resource
        self._cards, self._starts, self._file = cards, starts, file
        self._unit, self._load, self._held = unit, load, held
        self._known: Slots | None = None
        """As they were last; None: the file is still to be read."""

    def offered(self) -> Sequence[OfferedDevice]:
        """Each as healthy as the card where it is now."""
        cards, slots = self._seen()
        healthy = {card.uuid for card in cards if not card.problem}
        return [OfferedDevice(name, slot.card in healthy) for name, slot in slots.items()]

    async def preferred(
        self, available: Sequence[str], required: Sequence[str], size: int
    ) -> Sequence[str]:
        """Those on the least loaded healthy card."""
        best = by_preference(*self._seen(), set(available).difference(required))
        return [*required, *best][:size]

    async def allocate(self, ids: Sequence[str]) -> wire.ContainerAllocateResponse:
        """The name of a CDI device that is still to be written."""
        _, slots = self._seen()
        unknown = next((name for name in ids if name not in slots), None)
        if unknown is not None or not ids:
            raise RefusedError(f"<{unknown or 'nothing'}> is no slot of this node's cards")
        return self._starts.answer(ids)

    async def pre_start(self, ids: Sequence[str]) -> None:
        """Choose the container's card, and write its CDI file."""
        await self._starts.give(ids, self._given, by_others=True)

    def forget_gone(self, owners: Sequence[ContainerOwner]) -> None:
        """These containers are listed. Free the slots of whoever was not for a while."""
        _, slots = self._seen()
        living = {name: owner[:3] for owner in owners for name in owner.ids}
        held = {(name, slot.holder[:3]) for name, slot in slots.items() if slot.holder is not None}
        gone = {name for name, _ in self._held.gone(held, living.items())}
        after = released(slots, gone)
        if after != slots:
            self._known = after
            with suppress(RefusedError):  # after a restart they are found to be gone again
                self._file.write(after)

    def _seen(self) -> tuple[list[SlotCard], Slots]:
        """The cards as they were seen last, and their slots."""
        cards = [self._slot_card(card) for card in self._cards.cards]
        known = self._file.read() if self._known is None else self._known
        self._known = complete(cards, known)
        return cards, self._known

    def _slot_card(self, card: NodeCard) -> SlotCard:
        number = slots_of(card.memory, self._unit)
        return SlotCard(
            uuid=card.uuid,
            index=card.index,
            slots=number,
            memory=card.memory // number,
            load=self._load.of(card),
            problem=card.problem,
        )

    def _given(self, start: StartingContainer) -> CardsGiven:
        owner, offered = start.owner, self.offered()
        cards, slots = self._seen()
        holder, wanted = SlotHolder(*owner[:3], start.pod.uid), sorted(owner.ids)
        others = {name for one in start.owners for name in one.ids}.difference(wanted)
        try:
            after = placed(cards, slots, wanted, others, holder, _bind(start))
        except SlotError as error:
            raise RefusedError(f"{start.owner.where}: {error}") from None
        if after != slots:
            self._file.write(after)
            self._known = after
        if self.offered() != offered:
            self._cards.tell()  # a slot has moved to a sick card, or from it
        own = {name: after[name] for name in wanted}
        uuids = {slot.card for slot in own.values()}
        given = [card for card in self._cards.cards if card.uuid in uuids]
        indexes = ",".join(str(card.index) for card in given)
        return CardsGiven(given, {INDEXES: indexes, SLOTS: text_of(own)})


def _bind(start: StartingContainer) -> CardBind:
    text = start.pod.annotations.get(v.CARD_BIND, CardBind.BALANCE)
    try:
        return CardBind(text)
    except ValueError:
        raise RefusedError(
            f"{start.owner.where}: annotation {v.CARD_BIND} is <{show(text)}>, it can be "
            f"{' or '.join(CardBind)}"
        ) from None
