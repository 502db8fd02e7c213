"""Memory of single cards: `aliyun.com/gpu-mem`, a device ID for each MiB or GiB of each card.

Which card a pod gets stands on the pod: the extender has chosen it and kept room for it. The
kubelet asks without saying for whom, and the IDs that it picks say nothing of the card. So the
answer is given as late as it can be:

1. `Allocate` answers with the name of a CDI device: the first of the container's IDs.
2. `PreStartContainer`, before each start: the kubelet says who owns these IDs, the API server what
   stands on that pod, and the CDI file is written with that card.
3. The runtime reads the file and creates the container.

So two pods of equal size that are bound in the same moment are never crossed. What cannot be found
out fails: no container starts without its card, or with another.
"""

import asyncio
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNKNOWN
from cardquota.quota.cards.memory_shape import read_placement

from .api_server import ApiServer, ApiServerError, PodOnNode
from .cdi import CdiFolder
from .inventory import NodeCard
from .kubelet import (
    ContainerOwner,
    OfferedDevice,
    PodResources,
    PodResourcesError,
    RefusedError,
)
from .kubelet import device_plugin_pb2 as wire
from .listing import Allocation
from .node_cards import NodeCards

KIND: Final = "cardquota.volcano.sh/memory"
"""Of the CDI devices."""
_VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"
_OF_CONTAINER: Final = "ALIYUN_COM_GPU_MEM_CONTAINER"
_SHARED_NODES: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
"""Device nodes of the driver, as far as there are any."""


class Unannotated(StrEnum):
    """What a pod gets that no scheduler has given a card."""

    REFUSE = "refuse"
    LEAST_FREE = "leastFree"


class MemoryResource:
    """What a container gets that asks for memory. It keeps nothing but the CDI files, so the same
    holds after a restart.
    """

    name = v.GPU_MEMORY

    def __init__(
        self,
        cards: NodeCards,
        pods: PodResources,
        server: ApiServer,
        cdi: CdiFolder,
        unannotated: Unannotated,
        count: Callable[[str], None],
    ) -> None:
        """`count` is told of each start whether the card was `given` or `refused`."""
        self._cards, self._pods, self._server, self._cdi = cards, pods, server, cdi
        self._unannotated, self._count = unannotated, count
        self._files = asyncio.Lock()
        """Nothing is written between the look at who lives and the removal of the others."""

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
        name = self._cdi.name(_token(ids))
        return wire.ContainerAllocateResponse(cdi_devices=[wire.CDIDevice(name=name)])

    async def pre_start(self, ids: Sequence[str]) -> None:
        """Write the container's CDI file, and on its pod that it has its card."""
        try:
            await self._give(ids)
        except RefusedError:
            self._count("refused")
            raise
        self._count("given")

    async def _give(self, ids: Sequence[str]) -> None:
        owners = await self._owners()
        owner = next((one for one in owners if one.ids.issuperset(ids)), None)
        if owner is None:
            raise RefusedError(
                f"the kubelet names no container that has <{len(ids)}> {v.GPU_MEMORY} from "
                f"<{_token(ids)}> on: it is asked again"
            )
        try:
            pod = await asyncio.to_thread(self._server.pod, owner.namespace, owner.pod)
        except ApiServerError as error:
            raise RefusedError(f"it is not known which card the pod has: {error}") from None
        of_pod = sum(len(one.ids) for one in owners if one[:2] == owner[:2])
        async with self._files:
            card = self._card(owner, pod, of_pod, owners)
            self._write(card, owner, of_pod)
        await self._note(owner, pod)

    async def forget_gone(self) -> None:
        """Remove the files of containers that are gone. Raises PodResourcesError."""
        async with self._files:
            living = {_token(one.ids) for one in await self._pods.owners(self.name)}
            for device in set(self._cdi.devices()).difference(living):
                self._cdi.remove(device)

    async def _owners(self) -> list[ContainerOwner]:
        try:
            return await self._pods.owners(self.name)
        except PodResourcesError as error:
            raise RefusedError(f"{error}: it is asked again") from None

    def _card(
        self, owner: ContainerOwner, pod: PodOnNode, of_pod: int, owners: Sequence[ContainerOwner]
    ) -> NodeCard:
        notes, where = pod.annotations, f"pod <{owner.namespace}/{owner.pod}>"
        if v.GPU_MEMORY_CARD not in notes:
            return self._least_free(owner, owners, where)
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

    def _least_free(
        self, owner: ContainerOwner, owners: Sequence[ContainerOwner], where: str
    ) -> NodeCard:
        """A pod that no scheduler of ours has given a card."""
        if self._unannotated is Unannotated.REFUSE:
            raise RefusedError(
                f"{where} has no annotation {v.GPU_MEMORY_CARD}: the scheduler that bound it does "
                "not ask the extender; or set memory.unannotated to leastFree"
            )
        free = {card.uuid: self._cards.size(card) for card in self._cards.cards}
        for one in owners:
            env = self._cdi.environment(_token(one.ids))
            if one.ids == owner.ids:
                card = next((c for c in self._cards.cards if c.uuid == env.get(_VISIBLE)), None)
                if card is not None and card.healthy:
                    return card  # it starts again
            elif env.get(_VISIBLE) in free:
                free[env[_VISIBLE]] -= len(one.ids)
        able = [c for c in self._cards.cards if c.healthy and free[c.uuid] >= len(owner.ids)]
        if not able:
            raise RefusedError(
                f"{where}: no healthy card has <{len(owner.ids)}> {self._cards.unit} free"
            )
        return min(able, key=lambda card: (free[card.uuid], card.index))

    def _write(self, card: NodeCard, owner: ContainerOwner, of_pod: int) -> None:
        env = {
            _VISIBLE: card.uuid,
            "CUDA_VISIBLE_DEVICES": card.uuid,
            v.GPU_MEMORY_CARD: str(card.index),
            v.GPU_MEMORY_OF_POD: str(of_pod),
            _OF_CONTAINER: str(len(owner.ids)),
            v.GPU_MEMORY_OF_CARD: str(self._cards.size(card)),
        }
        nodes = [card.path, *(node for node in _SHARED_NODES if Path(node).exists())]
        self._cdi.write(_token(owner.ids), env, nodes)

    async def _note(self, owner: ContainerOwner, pod: PodOnNode) -> None:
        """That it has its card. When it was chosen stays: that is the extender's word."""
        notes = pod.annotations
        if v.GPU_MEMORY_CARD not in notes or notes.get(v.GPU_MEMORY_ASSIGNED) == "true":
            return
        given = {v.GPU_MEMORY_ASSIGNED: "true"}
        try:
            await asyncio.to_thread(
                self._server.annotate_pod, owner.namespace, owner.pod, pod.uid, given
            )
        except ApiServerError as error:
            raise RefusedError(f"it cannot be noted that the pod has its card: {error}") from None


async def allocations(pods: PodResources, cdi: CdiFolder) -> list[Allocation]:
    """Which container has memory of which card, as the kubelet and the CDI files say. Raises
    PodResourcesError.
    """
    found = []
    for owner in await pods.owners(v.GPU_MEMORY):
        env = cdi.environment(_token(owner.ids))
        card, uuid = env.get(v.GPU_MEMORY_CARD, ""), env.get(_VISIBLE, "")
        where = owner.namespace, owner.pod, owner.container
        found.append(Allocation(*where, len(owner.ids), card, uuid))
    return sorted(found)


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


def _token(ids: Sequence[str] | frozenset[str]) -> str:
    """By which a container's CDI file is named: nobody else has that ID meanwhile."""
    return min(ids)
