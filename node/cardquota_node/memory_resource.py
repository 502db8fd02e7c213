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

A container runtime that reads no CDI files must be told the card by `Allocate`. Then it is guessed
whom the kubelet asks for, and a container for which the guess was wrong does not start.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

from cardquota.quota import vocabulary as v
from cardquota.quota.cards import UNKNOWN
from cardquota.quota.cards.memory_shape import CardPlacement, read_placement

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
from .waiting_containers import WaitingContainers

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


class Told(StrEnum):
    """How the container runtime is told which card a container has."""

    CDI = "cdi"
    ALLOCATE = "allocate"


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
        told: Told,
        count: Callable[[str], None],
    ) -> None:
        """`count` is told of each start whether the card was `given` or `refused`."""
        self._cards, self._pods, self._server, self._cdi = cards, pods, server, cdi
        self._unannotated, self._told, self._count = unannotated, told, count
        self._waiting = WaitingContainers(self.name, pods, server)
        self._files = asyncio.Lock()
        """Nothing is written between the look at who lives and the removal of the others."""

    def offered(self) -> Iterator[OfferedDevice]:
        """Of each card as many as its own size."""
        for card in self._cards.cards:
            for number in range(self._cards.size(card)):
                yield OfferedDevice(f"{card.uuid}_{number}", card.healthy)

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
        if self._told is Told.ALLOCATE:
            return await self._guessed(ids)
        name = self._cdi.name(_token(ids))
        return wire.ContainerAllocateResponse(cdi_devices=[wire.CDIDevice(name=name)])

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
            raise RefusedError(
                f"no pod waits whose annotations name a card for <{len(ids)}> {v.GPU_MEMORY}"
            )
        _, one = min(placed, key=lambda it: it[0].assumed_at)
        card = self._card_named(one.pod, one.of_pod, one.owner)
        env, nodes = self._environment(card, len(ids), one.of_pod), self._nodes(card)
        # So it is known before each start what this container has.
        self._cdi.write(_token(ids), env, nodes)
        return wire.ContainerAllocateResponse(
            envs=env,
            devices=[
                wire.DeviceSpec(container_path=node, host_path=node, permissions="rw")
                for node in nodes
            ],
        )

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
        first = _token(ids)
        owner = next((one for one in owners if first in one.ids), None)
        if owner is None:
            raise RefusedError(
                f"the kubelet names no container that has <{len(ids)}> {v.GPU_MEMORY} from "
                f"<{first}> on: it is asked again"
            )
        try:
            pod = await asyncio.to_thread(self._server.pod, owner.namespace, owner.pod)
        except ApiServerError as error:
            raise RefusedError(f"it is not known which card the pod has: {error}") from None
        of_pod = sum(len(one.ids) for one in owners if one[:2] == owner[:2])
        async with self._files:
            card = self._card(owner, pod, of_pod, owners)
            self._settle(card, owner, ids, of_pod)
        await self._note(owner, pod)

    def _settle(
        self, card: NodeCard, owner: ContainerOwner, ids: Sequence[str], of_pod: int
    ) -> None:
        if self._told is Told.CDI:
            env = self._environment(card, len(ids), of_pod)
            self._cdi.write(_token(ids), env, self._nodes(card))
            return
        has = self._cdi.environment(_token(ids)).get(_VISIBLE, "(unknown)")
        if has != card.uuid:
            raise RefusedError(
                f"pod <{owner.namespace}/{owner.pod}> was taken for another that asked for as much:"
                f" it has card <{has}>, and its annotation names <{card.index}> ({card.uuid}): "
                "delete the pod; or use a runtime with CDI"
            )

    async def forget_gone(self) -> None:
        """Remove the files of containers that are gone. Raises PodResourcesError."""
        self._waiting.forget()
        async with self._files:
            files = set(self._cdi.devices())
            # An init container's IDs are used again by the others: its file goes with theirs.
            owners = await self._pods.owners(self.name)
            living = {one for owner in owners for one in owner.ids if one in files}
            for device in files - living:
                self._cdi.remove(device)

    async def _owners(self) -> list[ContainerOwner]:
        try:
            return await self._pods.owners(self.name)
        except PodResourcesError as error:
            raise RefusedError(f"{error}: it is asked again") from None

    def _card(
        self, owner: ContainerOwner, pod: PodOnNode, of_pod: int, owners: Sequence[ContainerOwner]
    ) -> NodeCard:
        if v.GPU_MEMORY_CARD not in pod.annotations:
            return self._least_free(owner, owners, f"pod <{owner.namespace}/{owner.pod}>")
        return self._card_named(pod, of_pod, owner)

    def _card_named(self, pod: PodOnNode, of_pod: int, owner: ContainerOwner) -> NodeCard:
        where = f"pod <{owner.namespace}/{owner.pod}>"
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
            if one[:3] == owner[:3]:
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

    def _environment(self, card: NodeCard, amount: int, of_pod: int) -> dict[str, str]:
        return {
            _VISIBLE: card.uuid,
            "CUDA_VISIBLE_DEVICES": card.uuid,
            v.GPU_MEMORY_CARD: str(card.index),
            v.GPU_MEMORY_OF_POD: str(of_pod),
            _OF_CONTAINER: str(amount),
            v.GPU_MEMORY_OF_CARD: str(self._cards.size(card)),
        }

    @staticmethod
    def _nodes(card: NodeCard) -> list[str]:
        return [card.path, *(node for node in _SHARED_NODES if Path(node).exists())]

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


def _placement(pod: PodOnNode, of_pod: int) -> CardPlacement:
    notes = pod.annotations
    return read_placement(
        of_pod,
        notes.get(v.GPU_MEMORY_CARD),
        notes.get(v.GPU_MEMORY_OF_POD),
        notes.get(v.GPU_MEMORY_ASSIGNED),
        notes.get(v.GPU_MEMORY_ASSUMED_AT),
    )


def _token(ids: Sequence[str]) -> str:
    """By which a container's CDI file is named: nobody else has that ID meanwhile."""
    return min(ids)
