"""The longest stretch for which each body or event holds up the event loop, in the worst cluster.

5,000 nodes, 100,000 pods, 1,000 queues of 20 cards, 20,000 pods that wait in 1,000 namespaces; the
same number in one queue; one gang of 10,000. A figure is processor time of the loop's thread from
the selector's return until it is asked again, the least of two where the same can be done twice.
None may be above 100 ms (I5).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic
from typing import Any, Final

import msgspec
from prometheus_client import generate_latest

from builders import H200, Body, a_namespace, a_node, a_queue
from cardquota.api.reviews import LARGEST_LIMIT
from cardquota.cluster.watch import ObjectIndex
from cardquota.control.queues import measure_drift, refresh
from cardquota.control.reports import UnadmittedReports, report_unadmitted
from cardquota.loop import BOUND, TimeSlice
from cardquota.quota import GANG_KINDS
from harness.page_reader import ASK, LIST, NODES, PageReader

from ..bodies import stall_bodies
from ..figure import Figure, Report
from . import stall_world
from .stall_world import CARDS, PODS, QUEUES, WAITING, World

Work = Callable[[], Awaitable[object] | object]
_MEMBERS: Final = 10_000
_ROLLOUT: Final = 1_000
"""Nodes of one chunk of a watch, while a device plugin is rolled out."""
_SETTLED: Final = 5.0
"""Seconds without anything to do after which a leader has done all there was."""


def run(report: Report) -> None:
    """Five clusters, one after the other."""
    stall_world.run(lambda world: _spread(_Figures(report, world)))
    stall_world.run(lambda world: _one_queue(_Figures(report, world)))
    stall_world.run(lambda world: _all_waiting(_Figures(report, world)))
    stall_world.run(lambda world: _asking(_Figures(report, world)))
    stall_world.run(lambda world: _gang(_Figures(report, world)))


class _Figures:
    """Takes the figures of one cluster, and reports each with its bound."""

    def __init__(self, report: Report, world: World) -> None:
        self._report = report
        self.world = world

    async def take(self, what: str, *works: Work) -> None:
        """The least of several goes at the same thing."""
        times = [await self.world.worst(work) for work in works]
        self._report(Figure(what, min(times), "ms", BOUND * 1000))

    async def take_first_gate(self, where: str) -> None:
        """Seconds from the beginning of a term to its first gate."""
        self.world.sent.first_gate, begun = inf, monotonic()
        self.world.lead()
        await _done(self.world)
        first = self.world.sent.first_gate - begun
        self._report(Figure(f"until the first gate opens, {where}", first, "s", 1.0))
        await self.world.follow()


async def _spread(figures: _Figures) -> None:
    """Everything evenly over 1,000 queues and namespaces."""
    world = figures.world
    world.fill(pods=PODS, waiting=WAITING, queues=QUEUES)
    await _bodies(figures)
    await _nodes(figures)
    ledger, metrics = world.ledger, world.metrics

    async def scrape() -> None:
        await refresh(ledger, metrics)
        await asyncio.to_thread(generate_latest, metrics.registry)

    await figures.take("a scrape of the metrics", scrape, scrape)

    await _page(figures)
    await figures.take("the drift recount", lambda: measure_drift(ledger, metrics))
    gone = stall_bodies.deletion("q0001")
    await figures.take("DELETE of a queue", *_twice(_answer(world, "/validate", gone)))
    quotas = (a_queue("q0002").with_quota({H200: n}).with_uid("u-q0002").body for n in (70, 80))
    await figures.take(
        "a queue's quota is edited, 20 wait", *(_see(world, "queues", body) for body in quotas)
    )
    await _lists(figures)
    waiting = f"{WAITING:,} waiting in {QUEUES:,} queues"
    await _terms(figures, waiting)
    world.see("namespaces", a_namespace("free").body)
    world.see("queues", a_queue("free").with_quota({H200: 1}).body)
    world.see("pods", stall_world.gated("free").with_uid("free").body)
    await figures.take_first_gate(waiting)


async def _page(figures: _Figures) -> None:
    """What a browser asks for."""
    page = PageReader(ledger=figures.world.ledger, chief={LIST, ASK, NODES})
    for what in ("overview", "nodes"):
        work = partial(page.data, what, "chief")
        await figures.take(f"the page: {what}", work, work)


async def _bodies(figures: _Figures) -> None:
    world = figures.world
    salted = zip(*(stall_bodies.pods(salt) for salt in "abc"), strict=True)
    for (what, reviewed), (_, made), (_, stored) in salted:
        review, workload = stall_bodies.review(reviewed), stall_bodies.workload(made)
        await figures.take(f"review, {what}", _answer(world, "/mutate", review))
        await figures.take(f"review of a Deployment, {what}", _answer(world, "/validate", workload))
        pod = stored.with_uid("odd")
        await figures.take(f"watch, {what}", _see(world, "pods", pod.body))
        world.deliveries["pods"].deleted(_raw(world, pod))
    for what, queue in stall_bodies.queues():
        body = stall_bodies.review(queue, "queues")
        await figures.take(f"review of a queue, {what}", *_twice(_answer(world, "/validate", body)))
        await figures.take(f"watch of a queue, {what}", _see(world, "queues", queue.body))
    junk = b'{"kind":"AdmissionReview","request":' + b"[" * 500 + b"1," * 4_000_000
    await figures.take("8 MB that are not a review", *_twice(_answer(world, "/mutate", junk)))


async def _nodes(figures: _Figures) -> None:
    world = figures.world
    world.lead()
    notes = (stall_world.node(1, note=n) for n in (1, 2))
    await figures.take(
        "a node's labels change", *(_and_flush(world, _see(world, "nodes", n)) for n in notes)
    )
    amounts = (stall_world.node(1, cards=n) for n in (7, 8))
    await figures.take(
        "a node's cards change", *(_and_flush(world, _see(world, "nodes", n)) for n in amounts)
    )

    def twelve(cards: int) -> Work:
        bodies = (stall_world.node(number, cards=cards) for number in range(12))
        nodes = [msgspec.Raw(world.newer(body)) for body in bodies]

        def change() -> None:
            for raw in nodes:
                world.tell("nodes", raw)

        return _and_flush(world, change)

    await figures.take("12 nodes change", twelve(7), twelve(8))
    line = [world.newer(stall_world.node(number, cards=0)) for number in range(_ROLLOUT)]
    await figures.take(
        f"a device plugin is rolled out, {_ROLLOUT:,} nodes in one chunk of the watch",
        _and_flush(world, _chunk(world, "nodes", line)),
    )
    await world.follow()


async def _lists(figures: _Figures) -> None:
    world = figures.world
    delivery = world.deliveries["pods"]
    for gone in (0, 10_000):
        listed = world.listed(but=gone)

        async def end(listed: ObjectIndex = listed) -> None:
            slice_ = TimeSlice()
            for _ in delivery.only_in_steps(listed):
                await slice_.give_way()

        await figures.take(f"a list ends, {gone:,} of 100,000 pods are gone", end)
    pods = [
        world.newer(
            stall_world.gated("q0003").with_uid(f"n{n}").put(f"n{n}", "metadata", "name").body
        )
        for n in range(1_000)
    ]
    await figures.take("1,000 pods in one chunk of a watch", _chunk(world, "pods", pods))


async def _one_queue(figures: _Figures) -> None:
    """20,000 wait in one queue and namespace, 10,000 of them in one gang."""
    world = figures.world
    world.fill(pods=80_000, waiting=0, queues=QUEUES)
    world.see("podgroups", stall_world.group(10_000))
    world.see("priorityclasses", _class(1))
    world.crowd(1_000, group="gang")
    await _group(figures, 1_000)
    world.crowd(10_000, group="gang")
    await _group(figures, 10_000)
    classes = (_see(world, "priorityclasses", _class(n)) for n in (2, 3))
    await figures.take("a priority class changes, 10,000 members", *classes)
    world.crowd(WAITING)
    quotas = (a_queue("q0000").with_quota({H200: n}).with_uid("u-q0000").body for n in (81, 82))
    await figures.take(
        "a queue's quota is edited, 20,000 wait", *(_see(world, "queues", body) for body in quotas)
    )
    for what, bodies in (
        ("mode", [a_namespace("q0000").with_default_queue("q0000").in_mode("enforced")]),
        ("default queue", [a_namespace("q0000").with_default_queue("q0001")]),
    ):
        works = [_see(world, "namespaces", body.body) for body in bodies]
        await figures.take(f"a namespace's {what} changes, 20,000 wait in it", *works)
    new = a_node("new").with_cards("NVIDIA-NEW", 8).body
    await figures.take("a new kind of card, 20,000 ask for its resource", _see(world, "nodes", new))
    await _terms(figures, f"{WAITING:,} waiting in one queue, 80,000 running")
    world.loose(80_000)
    loop = asyncio.get_running_loop()
    unadmitted = UnadmittedReports(
        world.ledger, world.events, later=lambda _, call: loop.call_later(0, call)
    )
    await figures.take(
        "80,000 pods of one queue that passed no gate", lambda: unadmitted.look(["q0000"])
    )
    for uid in world.ledger.pods:
        world.ledger.dirty.unadmitted.add(uid)
    await figures.take(
        "100,000 pods that passed no gate are reported",
        lambda: report_unadmitted(world.ledger, world.events),
    )
    for what, asked in (
        ("a queue", stall_bodies.question("queuereviews", queue="q0000", limit=LARGEST_LIMIT)),
        ("a pod", stall_bodies.question("workloadreviews", kind="Pod", name="crowd-0")),
    ):
        said = f"an answer about {what}, 20,000 wait and 80,000 run in it"
        await figures.take(said, *_twice(_answer(world, "/mutate", asked)))
    page = PageReader(ledger=world.ledger, chief={LIST, ASK, NODES})
    work = partial(page.queue, "q0000", "chief")
    await figures.take("the page: a queue, 20,000 wait and 80,000 run in it", work, work)
    for kind, body in (
        ("podgroups", stall_world.group(10_000)),
        ("namespaces", a_namespace("q0000").body),
        ("queues", a_queue("q0000").body),
    ):
        await figures.take(f"all pods lose their {kind[:-1]}", _drop(world, kind, body))


async def _group(figures: _Figures, members: int) -> None:
    world = figures.world
    status = (stall_world.group(10_000, phase="Inqueue", running=n) for n in (1, 2))
    await figures.take(
        f"a pod group's phase, {members:,} waiting members",
        *(_see(world, "podgroups", body) for body in status),
    )


async def _all_waiting(figures: _Figures) -> None:
    """100,000 wait."""
    world = figures.world
    world.fill(pods=PODS, waiting=PODS, queues=QUEUES)
    await _terms(figures, f"{PODS:,} waiting in {QUEUES:,} queues")


async def _asking(figures: _Figures) -> None:
    """20,000 groups of one namespace wait to be enqueued in one queue: a third ask for the same, a
    third for different numbers, and a third for as many cards to choose from as can be read.
    """
    world = figures.world
    world.fill(pods=QUEUES, waiting=0, queues=QUEUES)
    for number in range(WAITING):
        world.see("podgroups", stall_world.asking(number))
    await _terms(figures, f"{WAITING:,} groups to be enqueued")
    world.lead()
    await _done(world)
    quotas = (a_queue("q0000").with_quota({H200: n}).with_uid("u-q0000").body for n in (2, 3))
    await figures.take(
        "a queue's quota is edited, 20,000 groups wait", *(_see(world, "queues", q) for q in quotas)
    )
    classes = (_see(world, "priorityclasses", _class(n)) for n in (1, 2))
    await figures.take("a priority class changes, 20,000 groups have it", *classes)
    modes = (a_namespace("q0000").in_mode(mode).body for mode in ("audit", "enforced"))
    await figures.take(
        "a namespace's mode changes, 20,000 groups wait in it",
        *(_see(world, "namespaces", mode) for mode in modes),
    )
    largest = stall_world.asking(2)
    await figures.take("a group with 64 cards to choose from", _see(world, "podgroups", largest))


async def _gang(figures: _Figures) -> None:
    """10,000 pods of one gang, of as many kinds as may be, each with a choice of two cards; one
    card is short, and then it is not.
    """
    world = figures.world
    world.fill(pods=0, waiting=0, queues=1)
    world.see("podgroups", stall_world.group(_MEMBERS))
    pod = stall_world.gated("q0000").in_queue(None).in_group("gang")
    pod = pod.naming(f"{H200}|{CARDS[0]}")
    for number in range(_MEMBERS):
        facts = pod.of_task(f"t{number % GANG_KINDS.most}").with_uid(f"member-{number}").facts()
        world.charge(replace(facts, name=facts.uid))
    world.settle()
    half = _MEMBERS // 2
    short, enough = (
        a_queue("q0000").with_quota({H200: half, CARDS[0]: half - n}).with_uid("u-q0000").body
        for n in (1, 0)
    )
    world.see("queues", short)
    where = f"a gang of {_MEMBERS:,}, {GANG_KINDS.most} tasks, a choice of cards"
    await figures.take(f"take-over, {where}", _take_over(world))
    review = stall_bodies.review(stall_world.gated("q0000").ungated())
    await figures.take(f"review of a pod, {where}", *_twice(_answer(world, "/mutate", review)))
    await figures.take(f"it starts, {where}", _see(world, "queues", enough))
    await figures.take(f"a term ends, {where}", world.follow)


async def _terms(figures: _Figures, where: str) -> None:
    """A term begins over what waits, everybody is told, and it ends."""
    world = figures.world

    await figures.take(f"take-over, {where}", _take_over(world))
    await figures.take(f"all queues reported, {where}", world.leadership.report_all)
    await figures.take(f"all decisions seen in the watch, {where}", world.ledger.decisions.all_seen)
    await figures.take(f"a term ends, {where}", world.follow)


async def _done(world: World) -> None:
    """Nothing is written any more; or, for a minute, events alone, of which few are in a second."""
    end = monotonic() + 60
    before, since = -1, monotonic()
    while monotonic() < end and monotonic() - since < _SETTLED:
        await asyncio.sleep(0.05)
        if world.writes.writes != before:
            before, since = world.writes.writes, monotonic()


def _take_over(world: World) -> Work:
    """A term begins, and all that can be released is."""

    async def lead() -> None:
        world.lead()
        await _done(world)

    return lead


def _answer(world: World, path: str, body: bytes) -> Work:
    return lambda: world.answer(path, body)


def _see(world: World, kind: str, body: dict[str, Any]) -> Work:
    """Encoded beforehand: an API server does that."""
    raw = msgspec.Raw(world.newer(body))
    return lambda: world.tell(kind, raw)


def _drop(world: World, kind: str, body: dict[str, Any]) -> Work:
    raw = msgspec.Raw(world.newer(body))
    return lambda: world.deliveries[kind].deleted(raw)


def _and_flush(world: World, work: Work) -> Work:
    """And what the leader hands over for it."""

    async def both() -> None:
        found = work()
        if isinstance(found, Awaitable):
            await found
        await asyncio.sleep(0)
        world.leadership.report_changes()

    return both


def _chunk(world: World, kind: str, bodies: list[bytes]) -> Work:
    """So many events come in one piece."""
    lines = b"".join(b'{"type":"MODIFIED","object":%s}\n' % body for body in bodies)
    return lambda: world.stream(kind, lines)


def _raw(world: World, body: Body) -> msgspec.Raw:
    return msgspec.Raw(world.newer(body.body))


def _twice(work: Work) -> Iterator[Work]:
    return iter((work, work))


def _class(value: int) -> dict[str, Any]:
    return {"metadata": {"name": "high", "uid": "c"}, "value": value}
