"""One replica that leads, in this process, over a cluster of the largest size that is promised.

Everything in the loop is the product's own; what it writes is taken at once by nobody. The loop is
measured by the product's own selector, in processor time: on a busy machine, too, the figures say
what the code does.
"""

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import chain
from math import inf
from time import monotonic, thread_time
from typing import Any, Final

import msgspec

from builders import H200, a_group, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cluster.watch import ObjectIndex
from cardquota.loop import TimedSelector
from cardquota.quota.pods import PodFacts
from cardquota.runtime import collect_young, spare_what_stays
from harness.replica import Replica, TakesAll

NODES: Final = 5_000
PODS: Final = 100_000
QUEUES: Final = 1_000
WAITING: Final = 20_000
CARDS: Final = (*(f"NVIDIA-MODEL-{number:02}" for number in range(19)), H200)
"""Each queue has a quota of all of them."""
_QUIET: Final = 0.6
"""Seconds without a write, a backlog, or a stretch that is worth noting, after which nothing
follows. More than what the leader, and what goes on with a backlog, wait before they go on."""
_LONGEST: Final = 20.0
"""Seconds after which what still follows is not waited for."""
_LOOK: Final = 0.02


class _TimedWrites(TakesAll):
    """Knows when the last term opened its first gate."""

    first_gate = inf

    async def patch(self, *sent: object, **more: object) -> bytes:
        if "/pods/" in str(sent[0]):
            self.first_gate = min(self.first_gate, monotonic())
        return await super().patch(*sent, **more)


class World(Replica):
    """The replica. To be made in a loop over `selector`."""

    def __init__(self, selector: TimedSelector) -> None:
        self.sent = _TimedWrites()
        super().__init__(writes=self.sent)
        self._selector = selector
        self._worst = 0.0
        self._stretches = 0

    # --- what is there ----------------------------------------------------------------------

    def fill(self, *, pods: int, waiting: int, queues: int, nodes: int = NODES) -> None:
        """So many of each, the pods evenly over the queues; each queue in a namespace of its own,
        and full. `waiting` of the pods are at their gates, the others run under a stamp.
        """
        for number in range(nodes):
            self.see("nodes", node(number))
        bound = (pods - waiting) // queues
        for number in range(queues):
            name = f"q{number:04}"
            quota = {**dict.fromkeys(CARDS, 0), H200: bound}
            body = a_queue(name).with_quota(quota).limited_to("10k", "10Pi").with_uid(f"u-{name}")
            self.see("namespaces", a_namespace(name).with_default_queue(name).body)
            self.see("queues", body.body)
        self._pods_of(stamped("q0000"), pods - waiting, queues)
        self._pods_of(gated("q0000"), waiting, queues)
        self.settle()

    def crowd(self, number: int, *, group: str = "") -> None:
        """So many more that wait in the first queue and namespace, which is full."""
        pod = gated("q0000").in_group(group or None)
        facts = pod.facts()
        for index in range(number):
            self.charge(replace(facts, uid=f"crowd-{index}", name=f"crowd-{index}"))
        self.settle()

    def loose(self, number: int) -> None:
        """So many that run in the first queue and namespace, and that passed no gate of ours."""
        facts = gated("q0000").on_node("node-0000").facts()
        for index in range(number):
            self.charge(replace(facts, uid=f"loose-{index}", name=f"loose-{index}"))
        self.settle()

    def charge(self, facts: PodFacts) -> None:
        """A pod is there, as the watch would have told."""
        self.ledger.pod_seen(facts)
        self.deliveries["pods"].objects.put(facts.namespace, facts.name, facts.uid)

    def settle(self) -> None:
        """What is there stays: nothing of it is news, and the collector looks at it no more."""
        self.ledger.decisions.rest()
        spare_what_stays()

    def _pods_of(self, pod: PodBody, number: int, queues: int) -> None:
        facts = pod.facts()
        for index in range(number):
            queue = f"q{index % queues:04}"
            name = f"{facts.state.name.lower()}-{index}"
            stamp = facts.stamp._replace(queue=queue) if facts.stamp else None
            self.charge(
                replace(
                    facts,
                    uid=f"u-{name}",
                    name=name,
                    namespace=queue,
                    own_queue=queue,
                    stamp=stamp,
                    node=f"node-{index % NODES:04}" if facts.node else "",
                )
            )

    # --- what happens -----------------------------------------------------------------------

    def see(self, kind: str, body: dict[str, Any]) -> None:
        """A watch tells of an object; it is newer than all before."""
        self.tell(kind, msgspec.Raw(self.newer(body)))

    def tell(self, kind: str, raw: msgspec.Raw) -> None:
        """The same of an object that is encoded already."""
        self.deliveries[kind].changed(raw)

    def newer(self, body: dict[str, Any]) -> bytes:
        """As it stands in a watch."""
        self.writes.revision += 1
        meta = {**body["metadata"], "resourceVersion": str(self.writes.revision)}
        return json.dumps({**body, "metadata": meta}).encode()

    async def stream(self, kind: str, lines: bytes) -> None:
        """A watch brings all this in one piece, through the product's own reflector."""
        await self.reflector(kind, [lines]).follow()

    async def answer(self, path: str, body: bytes) -> None:
        """To a review, whatever it says."""
        status, _ = await self.review(path, body)
        assert status in (200, 400), status

    def listed(self, *, but: int = 0) -> ObjectIndex:
        """What a re-list finds, of pods; `but` so many of them."""
        found = ObjectIndex()
        every = self.deliveries["pods"].objects.missing_from(ObjectIndex())
        for number, (namespace, name, uid) in enumerate(chain.from_iterable(every)):
            if number >= but:
                found.put(namespace, name, uid)
        return found

    # --- what is measured -------------------------------------------------------------------

    async def worst(self, work: Callable[[], Awaitable[object] | object]) -> float:
        """Milliseconds of processor time of the longest stretch while that is done, or follows.

        What follows may come later: the loop is watched until it has had nothing to do for a while,
        but no longer than `_LONGEST`.
        """
        await asyncio.sleep(0)
        self._worst = 0.0
        self._selector.on_stretch = self._note
        # On its way to become a stretch of its own.
        await asyncio.sleep(0)
        found = work()
        if isinstance(found, Awaitable):
            await found
        end, since, before = monotonic() + _LONGEST, monotonic(), (-1, -1)
        while monotonic() - since < _QUIET and monotonic() < end:
            await asyncio.sleep(_LOOK)
            now = self.writes.writes, self._stretches
            if now != before or self.ledger.behind:
                since, before = monotonic(), now
        self._selector.on_stretch = lambda _: None
        return self._worst * 1000

    def _note(self, seconds: float) -> None:
        self._worst = max(self._worst, seconds)
        self._stretches += 1


def node(number: int, *, cards: int = 8, note: int = 0) -> dict[str, Any]:
    """One of the nodes: most have H200, which all pods use."""
    product = H200 if number % 2 else CARDS[number % len(CARDS)]
    body = a_node(f"node-{number:04}").with_cards(product, cards)
    for extra in range(20):
        body.body["metadata"]["labels"][f"feature.example.com/f{extra}"] = str(note)
    body.body["metadata"]["labels"]["kubernetes.io/hostname"] = f"node-{number:04}"
    return body.body


def gated(queue: str) -> PodBody:
    """Waits for its queue."""
    return _pod(queue).gated()


def stamped(queue: str) -> PodBody:
    """Runs."""
    return _pod(queue).stamped(queue, {H200: 1}).on_node("node-0001").in_phase("Running")


def _pod(queue: str) -> PodBody:
    pod = a_pod("train").in_namespace(queue).in_queue(queue).naming(H200).asking_for(1)
    return pod.with_cpu("8").with_memory("32Gi").owned_by("Job")


def group(members: int, **more: Any) -> dict[str, Any]:
    """A pod group of the first namespace; `more`: fields of its status."""
    body = a_group("gang").in_namespace("q0000").in_queue("q0000").of(members).with_uid("gang")
    body = body.put("high", "spec", "priorityClassName")
    return body.put(more or None, "status").body


def asking(number: int) -> dict[str, Any]:
    """A group without pods, of the first namespace and queue."""
    if number % 3 == 2:
        cards = "|".join((*CARDS, *(f"NVIDIA-OTHER-{n:02}" for n in range(64 - len(CARDS)))))
    else:
        cards = H200
    body = a_group(f"asks-{number:05}").in_namespace("q0000").in_queue("q0000").of(2)
    body = body.asking({cards: 2 if number % 3 == 0 else 2 + number})
    return body.put("high", "spec", "priorityClassName").with_uid(f"u-asks-{number}").body


def run(main: Callable[[World], Awaitable[None]]) -> None:
    """In a loop that is measured. Without refreshes of groups there is an end to what is written:
    no watch tells that one was.
    """
    selector = TimedSelector(thread_time)

    async def inside() -> None:
        world, young = World(selector), asyncio.create_task(collect_young())
        try:
            await main(world)
        finally:
            young.cancel()
            await world.end()
            gc.unfreeze()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(inside())
