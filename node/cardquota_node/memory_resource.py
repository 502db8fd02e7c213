"""Memory of single cards: `aliyun.com/gpu-mem`, a device ID for each MiB or GiB of each card.

Which card a pod gets stands on the pod: the extender has chosen it and kept room for it.
"""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNKNOWN
from cardquota.quota.cards.memory_shape import read_placement

from .api_server import ApiServer, ApiServerError
from .container_starts import VISIBLE, CardsGiven, ContainerStarts, StartingContainer
from .inventory import NodeCard
from .kubelet import ContainerOwner, OfferedDevice, RefusedError
from .kubelet import device_plugin_pb2 as wire
from .node_cards import NodeCards

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
        server: ApiServer,
        unannotated: Unannotated,
    ) -> None:
        self._cards, self._starts, self._server = cards, starts, server
        self._unannotated = unannotated

    def offered(self) -> Sequence[OfferedDevice]:
        """Of each card as many as its own size."""
        return [
            OfferedDevice(f"{card.uuid}_{number}", card.healthy)
            for card in self._cards.cards
            for number in range(self._cards.size(card))
        ]

    async def preferred(
        self, available: Sequence[str], required: Sequence[str], size: int
    ) -> Sequence[str]:
        """Of the card with the least free IDs that has enough, else of as few cards as possible."""
        free: dict[str, list[str]] = {}
        for one in sorted(set(available).difference(required)):
            free.setdefault(_card_of(one), []).append(one)
        missing = size - len(required)
        enough = [ids for ids in free.values() if len(ids) >= missing]
        best = min(enough, key=len, default=None)
        order = [best] if best is not None else sorted(free.values(), key=len, reverse=True)
        rest = [one for ids in order for one in ids]
        return [*required, *rest[: max(0, missing)]]

    async def allocate(self, ids: Sequence[str]) -> wire.ContainerAllocateResponse:
        """The name of a CDI device that is still to be written."""
        known = {card.uuid for card in self._cards.cards}
        unknown = next((one for one in ids if _card_of(one) not in known), None)
        if unknown is not None or not ids:
            raise RefusedError(f"<{unknown or 'nothing'}> is no memory of this node's cards")
        return self._starts.answer(ids)

    async def pre_start(self, ids: Sequence[str]) -> None:
        """Write the container's CDI file, and on its pod that it has its card."""
        await self._starts.give(ids, self._given, self._note)

    def forget_gone(self, owners: Sequence[ContainerOwner]) -> None:
        """Nothing is known of them but their files."""

    def _given(self, start: StartingContainer) -> CardsGiven:
        owner = start.owner
        of_pod = sum(len(one.ids) for one in start.owners if one[:2] == owner[:2])
        card = self._card(start, of_pod)
        env = {
            v.GPU_MEMORY_CARD: str(card.index),
            v.GPU_MEMORY_OF_POD: str(of_pod),
            _OF_CONTAINER: str(len(owner.ids)),
            v.GPU_MEMORY_OF_CARD: str(self._cards.size(card)),
        }
        return CardsGiven((card,), env)

    def _card(self, start: StartingContainer, of_pod: int) -> NodeCard:
        notes, where = start.pod.annotations, start.where
        if v.GPU_MEMORY_CARD not in notes:
            return self._least_free(start)
        placed = read_placement(
            of_pod, notes[v.GPU_MEMORY_CARD], notes.get(v.GPU_MEMORY_OF_POD), None, None
        )
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

    def _least_free(self, start: StartingContainer) -> NodeCard:
        """A pod that no scheduler of ours has given a card."""
        owner, where = start.owner, start.where
        if self._unannotated is Unannotated.REFUSE:
            raise RefusedError(
                f"{where} has no annotation {v.GPU_MEMORY_CARD}: the scheduler that bound it does "
                "not ask the extender; or set memory.unannotated to leastFree"
            )
        free = {card.uuid: self._cards.size(card) for card in self._cards.cards}
        for one in start.owners:
            env = self._starts.environment(one)
            if one.ids == owner.ids:
                card = next((c for c in self._cards.cards if c.uuid == env.get(VISIBLE)), None)
                if card is not None and card.healthy:
                    return card  # it starts again
            elif env.get(VISIBLE) in free:
                free[env[VISIBLE]] -= len(one.ids)
        able = [c for c in self._cards.cards if c.healthy and free[c.uuid] >= len(owner.ids)]
        if not able:
            raise RefusedError(
                f"{where}: no healthy card has <{len(owner.ids)}> {self._cards.unit} free"
            )
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
    it; a container that asks for it gets nothing.
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
        """Nothing."""
        return wire.ContainerAllocateResponse()

    async def pre_start(self, _: Sequence[str]) -> None:
        """Nothing is to be done."""


def _card_of(device: str) -> str:
    return device.rpartition("_")[0]
