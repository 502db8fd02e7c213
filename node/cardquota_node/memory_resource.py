"""Memory of single cards: `aliyun.com/gpu-mem`, a device ID for each MiB or GiB of each card.

Which card a pod gets stands on the pod: the extender has chosen it and kept room for it.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Final

from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNKNOWN
from cardquota.quota.cards.memory_shape import CardPlacement, read_placement

from .api_server import ApiServer, ApiServerError, PodOnNode
from .container_starts import VISIBLE, CardsGiven, ContainerStarts, StartingContainer, Told
from .inventory import NodeCard
from .kubelet import ContainerOwner, OfferedDevice, PodResourcesError, RefusedError
from .kubelet import device_plugin_pb2 as wire
from .node_cards import NodeCards
from .waiting_containers import WaitingContainers

KIND: Final = "cardquota.volcano.sh/memory"
"""Of the CDI devices."""
_OF_CONTAINER: Final = "ALIYUN_COM_GPU_MEM_CONTAINER"


class Unannotated(StrEnum):
    """What a pod gets that no scheduler has given a card."""

    REFUSE = "refuse"
    LEAST_FREE = "leastFree"


class MemoryResource:
    """What a container gets that asks for memory."""

    name = v.GPU_MEMORY

    def __init__(
        self,
        cards: NodeCards,
        starts: ContainerStarts,
        waiting: WaitingContainers,
        server: ApiServer,
        unannotated: Unannotated,
    ) -> None:
        self._cards, self._starts, self._waiting, self._server = cards, starts, waiting, server
        self._unannotated = unannotated
        self._elsewhere: dict[str, str] = {}
        """The card, by the IDs of containers that have another one than the ID says."""

    def offered(self) -> Iterator[OfferedDevice]:
        """Of each card as many as its own size. An ID that a container has is as healthy as the
        container's card: the kubelet writes that on the pod.
        """
        healthy = {card.uuid: card.healthy for card in self._cards.cards}
        for card in self._cards.cards:
            for number in range(self._cards.size(card)):
                one = f"{card.uuid}_{number}"
                yield OfferedDevice(one, healthy.get(self._elsewhere.get(one, card.uuid), False))

    async def preferred(
        self, available: Sequence[str], required: Sequence[str], size: int
    ) -> Sequence[str]:
        """Of the card that the pod's annotation names, as far as it can be told whom the kubelet
        asks for; else of the card with the least free IDs that has enough, else of as few cards as
        possible. Which card the container gets does not depend on it.
        """
        taken = frozenset(required)
        free = Counter(_card_of(one) for one in available if one not in taken)
        missing = max(0, size - len(required))
        enough = {card for card, number in free.items() if number >= missing}
        named = await self._named(size)
        if named in enough:
            order = [named]
        elif enough:
            order = [min(enough, key=lambda card: (free[card], card))]
        else:
            order = [card for card, _ in free.most_common()]
        rest = (
            one for card in order for one in available if _card_of(one) == card and one not in taken
        )
        return [*required, *islice(rest, missing)]

    async def _named(self, amount: int) -> str | None:
        """The card of the pod for which the kubelet asks; None: that cannot be told."""
        try:
            waiting = await self._waiting.asking_for(amount)
        except (PodResourcesError, ApiServerError):
            return None
        named = {_placement(one.pod, one.of_pod).card for one in waiting}
        card = self._cards.of(named.pop()) if len(named) == 1 else None
        return card.uuid if card is not None else None

    async def allocate(self, ids: Sequence[str]) -> wire.ContainerAllocateResponse:
        """The name of a CDI device that is still to be written, or the card itself."""
        unknown = self._unknown(ids)
        if unknown is not None or not ids:
            raise RefusedError(f"<{unknown or 'nothing'}> is no memory of this node's cards")
        if self._starts.told is Told.ALLOCATE:
            return await self._guessed(ids)
        return self._starts.answer(ids)

    def _unknown(self, ids: Sequence[str]) -> str | None:
        """The first that is not offered."""
        sizes = {card.uuid: self._cards.size(card) for card in self._cards.cards}
        for one in ids:
            uuid, _, number = one.rpartition("_")
            if not number.isdecimal() or int(number) >= sizes.get(uuid, 0):
                return one
        return None

    async def _guessed(self, ids: Sequence[str]) -> wire.ContainerAllocateResponse:
        """The card of the pod that was given its card first, of those that ask for as much."""
        try:
            waiting = await self._waiting.asking_for(len(ids))
        except (PodResourcesError, ApiServerError) as error:
            raise RefusedError(f"it is not known which pods wait for a card: {error}") from None
        placed = [(_placement(one.pod, one.of_pod), one) for one in waiting]
        placed = [it for it in placed if it[0].card != UNKNOWN and not it[0].assigned]
        if not placed:
            self._waiting.forget()  # another pod may have the name of one that is gone
            raise RefusedError(
                f"no pod waits whose annotations name a card for <{len(ids)}> {v.GPU_MEMORY}"
            )
        _, one = min(placed, key=lambda it: it[0].assumed_at)
        card = self._card_named(one.pod, one.of_pod, one.owner.where)
        given = CardsGiven((card,), self._environment(card, len(ids), one.of_pod))
        return await self._starts.answer_now(ids, given)

    async def pre_start(self, ids: Sequence[str]) -> None:
        """Write the container's CDI file, and on its pod that it has its card."""
        least_free = self._unannotated is Unannotated.LEAST_FREE
        await self._starts.give(ids, self._given, self._note, by_others=least_free)

    def forget_gone(self, owners: Sequence[ContainerOwner]) -> None:
        """These containers are listed."""
        found: dict[str, str] = {}
        for owner in owners:
            found |= _elsewhere(owner.ids, self._starts.environment(owner).get(VISIBLE, ""))
        self._has_elsewhere(found)

    def _has_elsewhere(self, found: dict[str, str]) -> None:
        if found != self._elsewhere:
            self._elsewhere = found
            self._cards.tell()

    def _given(self, start: StartingContainer) -> CardsGiven:
        owner = start.owner
        of_pod = sum(len(one.ids) for one in start.owners if one[:2] == owner[:2])
        named = v.GPU_MEMORY_CARD in start.pod.annotations
        card = self._card_named(start.pod, of_pod, start.owner.where) if named else None
        if self._unannotated is Unannotated.LEAST_FREE:
            # Where no extender keeps room for those that it has placed, anybody may write so.
            card = self._with_room(start, card)
        if card is None:
            raise RefusedError(
                f"{start.owner.where} has no annotation {v.GPU_MEMORY_CARD}: the scheduler that "
                "bound it does not ask the extender; or set memory.unannotated to leastFree"
            )
        own = frozenset(start.ids)
        others = {one: it for one, it in self._elsewhere.items() if one not in own}
        self._has_elsewhere(others | _elsewhere(start.ids, card.uuid))
        return CardsGiven((card,), self._environment(card, len(start.ids), of_pod))

    def _environment(self, card: NodeCard, amount: int, of_pod: int) -> dict[str, str]:
        return {
            v.GPU_MEMORY_CARD: str(card.index),
            v.GPU_MEMORY_OF_POD: str(of_pod),
            _OF_CONTAINER: str(amount),
            v.GPU_MEMORY_OF_CARD: str(self._cards.size(card)),
        }

    def _card_named(self, pod: PodOnNode, of_pod: int, where: str) -> NodeCard:
        placed = _placement(pod, of_pod)
        if placed.card == UNKNOWN:
            raise RefusedError(f"{where}: {placed.problem}")
        card = self._cards.of(placed.card)
        if card is None:
            raise RefusedError(
                f"{where}: annotation {v.GPU_MEMORY_CARD} names card <{placed.card}>, the node has "
                f"<{len(self._cards.cards)}>, from 0 on"
            )
        size = self._cards.size(card)
        if of_pod > size:
            raise RefusedError(
                f"{where} asks for <{of_pod}> {self._cards.unit}, card <{card.index}> has <{size}>"
            )
        if not card.healthy:
            raise RefusedError(f"{where}: card <{card.index}> is sick: {card.problem}")
        return card

    def _with_room(self, start: StartingContainer, named: NodeCard | None) -> NodeCard:
        """The named card, or else the one that it has already, or the one with the least free
        memory that has enough. Raises RefusedError if there is none.
        """
        cards = {card.uuid: card for card in self._cards.cards}
        free = {uuid: self._cards.size(card) for uuid, card in cards.items()}
        has = None
        for one in start.owners:
            uuid = self._starts.environment(one).get(VISIBLE, "")
            if one[:3] == start.owner[:3]:
                has = cards.get(uuid)
            elif uuid in free:
                free[uuid] -= len(one.ids)
        amount = len(start.owner.ids)
        able = [
            card
            for card in ([named] if named is not None else cards.values())
            if card.healthy and free[card.uuid] >= amount
        ]
        if not able:
            which = f"card <{named.index}> has not" if named is not None else "no healthy card has"
            raise RefusedError(f"{start.owner.where}: {which} <{amount}> {self._cards.unit} free")
        if has in able:
            return has
        return min(able, key=lambda card: (free[card.uuid], card.index))

    async def _note(self, start: StartingContainer) -> None:
        """That it has its card. When it was chosen stays: that is the extender's word."""
        notes, owner = start.pod.annotations, start.owner
        if v.GPU_MEMORY_CARD not in notes or notes.get(v.GPU_MEMORY_ASSIGNED) == "true":
            return
        given = {v.GPU_MEMORY_ASSIGNED: "true"}
        try:
            await asyncio.to_thread(
                self._server.annotate_pod, owner.namespace, owner.pod, start.pod.uid, given
            )
        except ApiServerError as error:
            raise RefusedError(f"it cannot be noted that the pod has its card: {error}") from None


class CountResource:
    """How many cards the node has whose memory is shared: `aliyun.com/gpu-count`. Schedulers read
    it; nobody can have one.
    """

    name = v.GPU_COUNT

    def __init__(self, cards: NodeCards) -> None:
        self._cards = cards

    def offered(self) -> Sequence[OfferedDevice]:
        """One for each card."""
        return [OfferedDevice(card.uuid, card.healthy) for card in self._cards.cards]

    async def preferred(
        self, available: Sequence[str], required: Sequence[str], size: int
    ) -> Sequence[str]:
        """Any."""
        rest = sorted(set(available).difference(required))
        return [*required, *rest][:size]

    async def allocate(self, _: Sequence[str]) -> wire.ContainerAllocateResponse:
        """Raises RefusedError."""
        raise RefusedError(
            f"{v.GPU_COUNT} says how many cards the node has, and cannot be had: ask for "
            f"{v.GPU_MEMORY} alone"
        )

    async def pre_start(self, _: Sequence[str]) -> None:
        """Nothing is to be done."""


def _card_of(device: str) -> str:
    return device.rpartition("_")[0]


def _elsewhere(ids: Sequence[str], card: str) -> dict[str, str]:
    return {one: card for one in ids if card and _card_of(one) != card}


def _placement(pod: PodOnNode, of_pod: int) -> CardPlacement:
    notes = pod.annotations
    return read_placement(
        of_pod,
        notes.get(v.GPU_MEMORY_CARD),
        notes.get(v.GPU_MEMORY_OF_POD),
        notes.get(v.GPU_MEMORY_ASSIGNED),
        notes.get(v.GPU_MEMORY_ASSUMED_AT),
    )
