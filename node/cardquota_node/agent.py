"""The agent: it looks at the cards, offers them to the kubelet, and tells schedulers of them.

1. Look at the cards, again and again; a driver that is not there yet is waited for.
2. Offer them: a device plugin for each resource, registered at the kubelet.
3. Publish each card's size, and which are sick, on the node: the extender reads that.
4. Remove what was written for containers that are gone.
"""

import asyncio
import json
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from cardquota.quota import vocabulary as v

from .api_server import ApiServer, ApiServerError
from .cdi import CdiFolder
from .container_starts import ContainerStarts, Told
from .health_server import HealthServer
from .inventory import Inventory, InventoryError, NodeCard
from .kubelet import DeviceResource, PluginServer, PodResources, PodResourcesError, serve
from .last_seen import LastSeen
from .memory_resource import CountResource, MemoryResource
from .memory_units import QUICK_IDS
from .node_cards import NodeCards
from .node_lock import node_lock
from .node_metrics import NodeMetrics
from .node_settings import NodeSettings, Offer
from .slot_file import SlotFile
from .slot_resource import SlotGiven, SlotResource
from .waiting_containers import WaitingContainers

_log = logging.getLogger("cardquota_node")
_THREADS: Final = 4
"""They wait for the API server; each has a connection of its own."""
_HUNG: Final = 60.0
"""Seconds without an answer about the cards after which the agent is not well."""
_CLEANING: Final = 5.0
"""Seconds between two looks for containers that are gone."""
_PUBLISHED_AGAIN: Final = 300.0
"""Seconds until what stands on the node is written once more."""
_WAITING: Final = 5.0
"""Seconds until it is tried again to publish the cards."""


async def run(settings: NodeSettings, inventory: Inventory) -> None:
    """Run until cancelled. Raises YamlFileError if the node has no name, OSError if the port of its
    pages is taken.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    node = settings.node_name
    server = ApiServer(settings.kubeconfig, node)
    pods = PodResources(settings.kubelet.pod_resources)
    cards = NodeCards(settings.memory.unit)
    metrics = NodeMetrics(cards)
    cdi = CdiFolder(settings.cdi_kind, settings.cdi)
    starts = ContainerStarts(
        settings.resource,
        pods,
        server,
        cdi,
        settings.told,
        LastSeen(settings.kubelet.forget_after, time.monotonic),
        lambda result: metrics.starts.update((result,)),
    )
    waiting = WaitingContainers(settings.resource, pods, server)
    shared: MemoryResource | SlotResource
    if settings.offer is Offer.SLOTS:
        slots, file = settings.slots, SlotFile(settings.cdi, cdi)
        held = LastSeen[SlotGiven](settings.kubelet.forget_after, time.monotonic)
        shared = SlotResource(cards, starts, file, slots.unit, slots.load, held)
    else:
        shared = MemoryResource(cards, starts, waiting, server, settings.memory.unannotated)
    looks = _Looks(inventory, settings.inventory.interval)
    _log.info("cards are listed by %s", inventory.source)
    if starts.told is Told.ALLOCATE:
        _log.warning("memory.told is allocate: a pod may be taken for another of its size")
    health = HealthServer(metrics, looks.problem)
    listener = await health.listen(settings.http.host, settings.http.port)
    _log.info("listening on port <%d>", listener.sockets[0].getsockname()[1])
    async with (
        listener,
        node_lock(settings.cdi, _log.warning),
        asyncio.TaskGroup() as tasks,
    ):
        looks.begin()
        await _first_look(cards, looks)
        _say(cards, shared)
        tasks.create_task(_offer(shared, cards, settings))
        if isinstance(shared, MemoryResource):
            tasks.create_task(_offer(CountResource(cards), cards, settings))
        tasks.create_task(_look(cards, looks))
        tasks.create_task(_publish(cards, server, node, settings.offer))
        tasks.create_task(_clean(starts, shared))


class _Looks:
    """Lists the cards, and knows for how long nobody has answered: a driver may hang for good."""

    def __init__(self, inventory: Inventory, interval: float) -> None:
        self._inventory, self.interval = inventory, interval
        self._answered: float | None = None
        """None: nobody is asked yet."""
        self._thread = ThreadPoolExecutor(1)
        """A driver that hangs keeps nobody else waiting, nor does the API server."""

    async def cards(self) -> tuple[NodeCard, ...]:
        """Raises InventoryError."""
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._inventory.cards)
        finally:
            self._answered = time.monotonic()

    def begin(self) -> None:
        """From now on somebody should answer."""
        self._answered = time.monotonic()

    def problem(self) -> str:
        """Empty: somebody has answered lately, if only that there are no cards."""
        if self._answered is None:
            return ""
        silent = time.monotonic() - self._answered - self.interval
        return (
            f"{self._inventory.source} has not answered for {silent:.0f} s"
            if (silent > _HUNG)
            else ""
        )


async def _first_look(cards: NodeCards, looks: _Looks) -> None:
    """Nothing is offered before it is known what there is."""
    told = ""
    while not cards.cards:
        try:
            cards.see(await looks.cards())
            text = "" if cards.cards else "there are none"
        except InventoryError as error:
            text = str(error)
        if text and text != told:
            told = text
            _log.warning("waiting for cards: %s", text)
        if text:
            await asyncio.sleep(looks.interval)


def _say(cards: NodeCards, shared: MemoryResource | SlotResource) -> None:
    number = len(cards.cards)
    if isinstance(shared, SlotResource):
        _log.info("<%d> cards with <%d> slots in all", number, len(shared.offered()))
        return
    total, unit = sum(map(cards.size, cards.cards)), cards.unit
    _log.info(
        "<%d> cards with <%d> %s in all, one device ID for each %s", number, total, unit, unit
    )
    if total > QUICK_IDS:
        _log.warning(
            "more than <%d> device IDs: the kubelet may take some seconds when a card's health "
            "changes, and writes each ID of a container into its pod's status; memory.unit: GiB "
            "makes fewer",
            QUICK_IDS,
        )


async def _look(cards: NodeCards, looks: _Looks) -> None:
    """Cards that cannot be listed any more stay as they were seen last: that is no word on them."""
    told = ""
    while True:
        await asyncio.sleep(looks.interval)
        try:
            changed, text = cards.see(await looks.cards()), ""
        except InventoryError as error:
            changed, text = False, str(error)
        if text and text != told:
            _log.warning("the cards cannot be listed, and count as they were: %s", text)
        told = text
        if changed:
            sick = [f"<{one.index}> ({one.problem})" for one in cards.cards if not one.healthy]
            _log.info("<%d> cards; sick: %s", len(cards.cards), ", ".join(sick) or "none")


async def _offer(resource: DeviceResource, cards: NodeCards, settings: NodeSettings) -> None:
    endpoint = f"cardquota-{resource.name.rpartition('/')[2]}.sock"
    server = PluginServer(resource, settings.kubelet.plugins / endpoint, _log.warning)
    cards.listen(server.changed)
    await serve(server, resource.name, endpoint, _log.info, settings.kubelet.plugins)


async def _publish(cards: NodeCards, server: ApiServer, node: str, offer: Offer) -> None:
    """Write each change on the node, and again until it is written; from time to time all of it,
    since a node may be deleted and made again.
    """
    changed, told = asyncio.Event(), ""
    cards.listen(changed.set)
    while True:
        changed.clear()
        sick = ",".join(str(card.index) for card in cards.cards if not card.healthy)
        sizes = json.dumps([cards.size(card) for card in cards.cards])
        try:
            by_memory = offer is Offer.MEMORY
            notes = {v.CARD_MEMORY: sizes if by_memory else None, v.UNHEALTHY_CARDS: sick or None}
            await asyncio.to_thread(server.annotate_node, node, notes)
        except ApiServerError as error:
            if str(error) != told:
                told = str(error)
                _log.warning("the cards are not published yet: %s", told)
            await asyncio.sleep(_WAITING)
            continue
        told = ""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PUBLISHED_AGAIN):
                await changed.wait()


async def _clean(starts: ContainerStarts, shared: MemoryResource | SlotResource) -> None:
    told = ""
    while True:
        try:
            await starts.forget_gone(shared.forget_gone, os.environ.get("POD_NAME", ""))
            text = ""
        except PodResourcesError as error:
            text = str(error)
        if text and text != told:
            _log.warning("files of containers that are gone stay: %s", text)
        told = text
        await asyncio.sleep(_CLEANING)
