"""Take-over with 20,000 pods waiting: the leader's loop is held up by nothing.

The real term of a leader over a real ledger, in one event loop; the API server is a stand-in that
takes every write. Timed is each stretch of the loop, from the selector's return until it is asked
again, all callbacks together (the longest is what a renewal of the Lease may have to wait), and
when what happens. The bounds are of processor time: on a machine that others use too, any callback
may be interrupted.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final, cast

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue
from cardquota.cluster.events import EventRecorder
from cardquota.cluster.watch import ChangeNotifier
from cardquota.control import LeaderWork, leader_work, term_writers
from cardquota.loop import TimedSelector
from cardquota.metrics import Metrics
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts
from cardquota.runtime import spare_what_stays
from cardquota.settings import Settings
from harness.open_fence import OpenFence

from ..figure import Figure, Report

NODES: Final = 5_000
QUEUES: Final = 1_000
ALIKE: Final = 5_000
UNLIKE: Final = 5_000
GANGS: Final = 2_500
"""Of two pods each."""
SPREAD: Final = 5
"""Pods in each of the queues, and of its namespace."""
ROOM: Final = 20
"""Pods of one queue that fit."""
TOLD: Final = 1_000
"""Events that are waited for: a few in a second are written."""
_BOUND: Final = 100.0
"""Milliseconds: the longest that the loop may be held up."""
_PATIENCE: Final = 300.0
_ANSWER: Final = 0.001
"""Seconds that the API server takes for a write."""
_RENEW: Final = 0.1
"""Seconds between two looks at how late a renewal would be: more often than they are, so that the
worst moment is not missed."""


def run(report: Report) -> None:
    """Longest stretch, times, and how late a renewal would have been."""
    level = logging.getLogger("cardquota").level
    logging.getLogger("cardquota").setLevel(logging.WARNING)
    try:
        selector = TimedSelector(time.thread_time)
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
            runner.run(_take_over(report, selector))
    finally:
        logging.getLogger("cardquota").setLevel(level)


class _Server:
    """Takes every write, and knows the time of the first gate."""

    def __init__(self) -> None:
        self.events = 0
        self.gates = 0
        self.first_gate: float | None = None

    async def post(self, *_: object, **__: object) -> bytes:
        await asyncio.sleep(_ANSWER)
        self.events += 1
        return b"{}"

    async def patch(self, path: str, *_: object, **__: object) -> bytes:
        await asyncio.sleep(_ANSWER)
        if "/pods/" in path:
            self.first_gate = self.first_gate or time.monotonic()
            self.gates += 1
        return json.dumps({"metadata": {"resourceVersion": "99999"}, "spec": {}}).encode()


class _ReportSink:
    """Nobody takes them."""

    shows_conditions = True

    def start(self, moved: object) -> None: ...

    def post(self, queue: str, report: object) -> None: ...

    async def stop(self) -> None: ...


async def _settled(*_: object, **__: object) -> None: ...


async def _take_over(report: Report, selector: TimedSelector) -> None:
    # They need a cluster, and are stood in for.
    setattr(leader_work, "settle_and_catch_up", _settled)  # noqa: B010
    ledger, waiting = _world()
    spare_what_stays()  # as the real process does when it has synced
    server, notifier = _Server(), ChangeNotifier()
    recorder = EventRecorder(server, instance="replica-0")  # type: ignore[arg-type]
    failures: list[BaseException] = []
    settings, fence, client = Settings(), OpenFence(), cast("Any", server)
    writers = term_writers(client, lambda: 60.0, fence, settings)
    work = LeaderWork(ledger, writers, recorder, Metrics(), notifier, settings, time.monotonic)
    term = leader_work.Leadership(
        work,
        client,
        SimpleNamespace(term="term"),  # type: ignore[arg-type]
        fence,  # type: ignore[arg-type]
        [],
        settings.leader_election,
        _ReportSink,
        failures.append,
    )
    writing = asyncio.create_task(recorder.run())
    late = _Lateness()
    renewing = asyncio.create_task(late.run())
    report(Figure("pods waiting", waiting, ""))
    groups = len(ledger.groups)
    stretches = list[float]()
    await asyncio.sleep(0)  # the stretch in which it begins would count whole
    selector.on_stretch = stretches.append
    begun = time.monotonic()
    term.acquired("term")
    seen = await _until(lambda: failures or server.events + recorder.dropped >= TOLD)
    report(Figure("longest stretch of the loop", max(stretches) * 1e3, "ms", _BOUND))
    first = (server.first_gate or float("inf")) - begun
    report(Figure("until the first gate opens, of the queue that comes last", first, "s"))
    report(Figure("gates opened", server.gates, "", ROOM, "at least"))
    report(Figure(f"until {TOLD:,} pods are told why they wait", seen - begun, "s"))
    report(Figure("events", server.events, "", TOLD, "at least"))
    report(Figure("events dropped", recorder.dropped, "", 0))
    report(Figure("latest renewal, by the clock", late.worst * 1e3, "ms"))
    report(Figure("pod groups", groups, ""))
    await asyncio.sleep(0)
    stretches.clear()
    term.lost("term")
    await asyncio.sleep(1)
    report(Figure("end of the term: longest stretch", max(stretches) * 1e3, "ms", _BOUND))
    for task in (writing, renewing):
        task.cancel()
    await asyncio.gather(writing, renewing, return_exceptions=True)
    if failures:
        raise failures[0]


class _Lateness:
    """How late somebody is who wants to renew every now and then, seconds."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _RENEW
            await asyncio.sleep(_RENEW)
            self.worst = max(self.worst, loop.time() - due)


async def _until(condition: Callable[[], object]) -> float:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.02)
    return time.monotonic()


def _node(number: int) -> Any:
    return a_node(f"node-{number:04}").with_cards(H200 if number % 2 else H800, 8)


def _world() -> tuple[Ledger, int]:
    """All queues are full but one; its pods come last, for it has less priority than the others."""
    things: list[Body] = [*CARDS, *(_node(number) for number in range(NODES))]
    quota = {H200: 100, H800: 100}
    for name in ("alike", "unlike", "gangs", *(f"q{n}" for n in range(QUEUES))):
        things += [a_namespace(name), a_queue(name).with_quota(quota).with_priority(1)]
        things += [_holder(name, card) for card in quota]
    things += [a_namespace("free"), a_queue("free").with_quota({H200: ROOM})]
    things += [a_group(f"g{n}").in_namespace("gangs").in_queue("gangs").of(2) for n in range(GANGS)]
    ledger = a_ledger(*things)
    waiting = [
        *_pods("alike", "", ALIKE),
        *(replace(pod, cpu=n + 1) for n, pod in enumerate(_pods("unlike", "", UNLIKE))),
        *(
            replace(pod, group=f"gangs/g{n // 2}")
            for n, pod in enumerate(_pods("gangs", "", 2 * GANGS))
        ),
        *(pod for n in range(QUEUES) for pod in _pods(f"q{n}", "", SPREAD)),
        *_pods("free", "", ROOM),
    ]
    for pod in waiting:
        ledger.pod_seen(pod)
    return ledger, len(waiting)


def _holder(queue: str, card: str) -> Body:
    pod = a_pod(f"{queue}-{card}").in_queue(queue).in_namespace(queue).naming(card)
    return pod.asking_for(100).stamped(queue, {card: 100}).on_node(f"node-000{int(card == H200)}")


def _pods(queue: str, group: str, number: int) -> Iterator[PodFacts]:
    pod = a_pod("p").in_namespace(queue).in_queue(queue).naming(H200).asking_for(1).gated().facts()
    for n in range(number):
        yield replace(pod, name=f"p{n}", uid=f"{queue}-p{n}", group=group)
