"""Gives containers their cards as late as that can be done: when they start (K1, K4, K5).

The kubelet asks without saying for whom, and the IDs that it picks need not say anything of the
card. So:

1. `Allocate` answers with the name of a CDI device: the first of the container's IDs.
2. `PreStartContainer`, before each start: the kubelet says who owns these IDs, the API server what
   stands on that pod, the resource decides, and the CDI file is written with its cards.
3. The runtime reads the file and creates the container.

So two pods that are bound in the same moment are never crossed. What cannot be found out fails: no
container starts without its card, or with another.

A container runtime that reads no CDI files must be told the card by `Allocate`. Then it is guessed
whom the kubelet asks for, and a container for which the guess was wrong does not start.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from cardquota.quota import vocabulary as v

from .api_server import ApiServer, ApiServerError, PodOnNode
from .cdi import CdiFolder
from .inventory import NodeCard
from .kubelet import ContainerOwner, PodResources, PodResourcesError, RefusedError
from .kubelet import device_plugin_pb2 as wire
from .last_seen import LastSeen
from .listing import Allocation

VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"
"""In a container: the UUIDs of its cards."""
INDEXES: Final = "CARDQUOTA_CARDS"
"""In a container: the indexes of its cards, if it has slots."""
_SHARED_NODES: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
"""Device nodes of the driver, as far as there are any."""


class Told(StrEnum):
    """How the container runtime is told which card a container has."""

    CDI = "cdi"
    ALLOCATE = "allocate"


class StartingContainer(NamedTuple):
    """A container that is about to start."""

    ids: Sequence[str]
    """An init container's are owned by the containers that follow it, too."""
    owner: ContainerOwner
    pod: PodOnNode
    owners: Sequence[ContainerOwner]
    """All containers of its pod that own something of the resource, this one too; of the node where
    the decision depends on others.
    """


class CardsGiven(NamedTuple):
    """What a container gets."""

    cards: Sequence[NodeCard]
    env: Mapping[str, str]
    """Beside the variables that name the cards."""


class ContainerStarts:
    """Those of containers that own something of one resource. It keeps nothing but the CDI files,
    so the same holds after a restart.
    """

    def __init__(
        self,
        resource: str,
        pods: PodResources,
        server: ApiServer,
        cdi: CdiFolder,
        told: Told,
        seen: LastSeen[str],
        count: Callable[[str], None],
    ) -> None:
        """`count` is told of each start whether cards were `given` or `refused`."""
        self.resource = resource
        self._pods, self._server, self._cdi, self._count = pods, server, cdi, count
        self.told, self._seen = told, seen
        self._files = asyncio.Lock()
        """Nothing is written between the look at who lives and the removal of the others."""

    def answer(self, ids: Sequence[str]) -> wire.ContainerAllocateResponse:
        """The name of a CDI device that is still to be written: what stands there is of a container
        that had the ID before.
        """
        self._cdi.remove(_token(ids))
        device = wire.CDIDevice(name=self._cdi.name(_token(ids)))
        return wire.ContainerAllocateResponse(cdi_devices=[device])

    async def answer_now(
        self, ids: Sequence[str], given: CardsGiven
    ) -> wire.ContainerAllocateResponse:
        """The cards themselves. Raises RefusedError."""
        env, nodes = _edits(given)
        async with self._files:
            # So it is known before each start what this container has.
            self._cdi.write(_token(ids), env, nodes)
        return wire.ContainerAllocateResponse(
            envs=env,
            devices=[
                wire.DeviceSpec(container_path=node, host_path=node, permissions="rw")
                for node in nodes
            ],
        )

    def environment(self, owner: ContainerOwner) -> dict[str, str]:
        """What was written of a container's environment; empty if nothing was."""
        return self._cdi.environment(_token(owner.ids))

    async def give(
        self,
        ids: Sequence[str],
        decide: Callable[[StartingContainer], CardsGiven],
        note: Callable[[StartingContainer], Awaitable[None]] | None = None,
        *,
        by_others: bool = False,
    ) -> None:
        """Write the CDI file of the container that owns these IDs. Raises RefusedError.

        `decide` may raise that too; one container is decided after the other. `note` follows.
        `by_others`: whether the decision depends on what other containers have.
        """
        try:
            start = await self._asked(ids)
            async with self._files:
                if by_others:
                    start = start._replace(owners=await self._owners())
                self._settle(start, decide(start))
            if note is not None:
                await note(start)
        except RefusedError:
            self._count("refused")
            raise
        self._count("given")

    async def forget_gone(
        self, tell: Callable[[Sequence[ContainerOwner]], None], own_pod: str
    ) -> None:
        """Remove the files of containers that are gone, and what was left half-written. Raises
        PodResourcesError.

        `tell` is told who is listed, while nothing is decided: who has started is among them.
        `own_pod`: the agent's; where the kubelet does not list it, it does not know its pods yet.
        Empty: it must list any pod.
        """
        async with self._files:
            listed = await self._pods.containers(self.resource)
            if not any(own_pod in ("", one.pod) for one in listed):
                return
            owners = [one for one in listed if one.ids]
            tell(owners)
            self._cdi.remove_unfinished()
            files = set(self._cdi.devices())
            there = {one for owner in owners for one in owner.ids if one in files}
            for device in self._seen.gone(files, there):
                self._cdi.remove(device)

    async def _owners(self) -> list[ContainerOwner]:
        try:
            return await self._pods.owners(self.resource)
        except PodResourcesError as error:
            raise _not_told(error) from None

    async def _asked(self, ids: Sequence[str]) -> StartingContainer:
        first = _token(ids)
        try:
            owners = await self._pods.pod_of(self.resource, first)
        except PodResourcesError as error:
            raise _not_told(error) from None
        owner = next((one for one in owners if first in one.ids), None)
        if owner is None:
            raise RefusedError(
                f"the kubelet names no container that has <{len(ids)}> {self.resource} from "
                f"<{first}> on: it is asked again"
            )
        try:
            pod = await asyncio.to_thread(self._server.pod, owner.namespace, owner.pod)
        except ApiServerError as error:
            raise RefusedError(f"it is not known which card the pod has: {error}") from None
        return StartingContainer(ids, owner, pod, owners)

    def _settle(self, start: StartingContainer, given: CardsGiven) -> None:
        env, nodes = _edits(given)
        if self.told is Told.CDI:
            self._cdi.write(_token(start.ids), env, nodes)
            return
        has = self._cdi.environment(_token(start.ids)).get(VISIBLE)
        if has is None:
            raise RefusedError(
                f"{start.owner.where}: it is not known any more which card it was given: delete "
                "the pod"
            )
        if has != env[VISIBLE]:
            raise RefusedError(
                f"{start.owner.where} was taken for another that asked for as much: it has card "
                f"<{has}>, and its annotation names <{env[VISIBLE]}>: delete the pod; or use a "
                "runtime with CDI"
            )


async def allocations(pods: PodResources, cdi: CdiFolder, resource: str) -> list[Allocation]:
    """Which container has which card, as the kubelet and the CDI files say. Raises
    PodResourcesError.
    """
    found = []
    for owner in await pods.owners(resource):
        env = cdi.environment(_token(owner.ids))
        card = env.get(v.GPU_MEMORY_CARD, env.get(INDEXES, ""))
        found.append(Allocation(*owner[:3], len(owner.ids), card, env.get(VISIBLE, "")))
    return sorted(found)


def _not_told(error: PodResourcesError) -> RefusedError:
    return RefusedError(f"{error}: it is asked again")


def _edits(given: CardsGiven) -> tuple[dict[str, str], list[str]]:
    """Environment and device nodes."""
    uuids = ",".join(card.uuid for card in given.cards)
    env = {VISIBLE: uuids, "CUDA_VISIBLE_DEVICES": uuids, **given.env}
    nodes = [card.path for card in given.cards]
    nodes += [node for node in _SHARED_NODES if Path(node).exists()]
    return env, nodes


def _token(ids: Sequence[str]) -> str:
    """By which a container's CDI file is named: nobody else has that ID meanwhile."""
    return min(ids)
