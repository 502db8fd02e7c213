"""A leader over a real ledger, whose API server is a script."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from builders import H200, Body, a_group, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.cluster.writes import FencedWriter
from cardquota.control.release import GateReleaser, Writers
from cardquota.loop import Later, in_loop_later
from cardquota.metrics import Metrics
from cardquota.quota.ledger import Ledger
from cardquota.settings import Release, Settings
from harness.open_fence import OpenFence
from harness.releasing import is_busy, is_idle

from .fakes import (
    TERM,
    Answer,
    Call,
    Script,
    Told,
    a_world,
    a_writer,
    no_charge_is_left,
    refused,
    until,
)

THREE = a_queue().with_quota({H200: 3})
GANG = a_group().in_queue("queue").of(2)


def waiting(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("queue").naming(card).asking_for(cards).gated()


def _nothing(*_: object, **__: object) -> None: ...


class Leader:
    """One term over a world."""

    def __init__(
        self,
        *things: Body,
        in_flight: int = 32,
        phases: bool = False,
        reservation_timeout: float = 300.0,
        later: Later = in_loop_later,
        began: float = 0.0,
    ) -> None:
        self.ledger: Ledger = a_world(*things)
        self.script = Script()
        self.told = Told()
        self.metrics = Metrics()
        self.left = 60.0

        def left() -> float:
            return self.left

        self.fence = OpenFence()

        def writer(guard: OpenFence | None = None) -> FencedWriter:
            return a_writer(self.script, left, at_a_time=in_flight, guard=guard)

        loop = asyncio.get_running_loop()
        self.releaser = GateReleaser(
            self.ledger,
            Writers(lambda: writer(self.fence), writer),
            self.told,
            self.metrics,
            Settings(
                release=Release(in_flight=in_flight, starvation_wait=0),
                reservation_timeout=reservation_timeout,
            ),
            term=TERM,
            clock=loop.time,
            later=later,
            wall_clock=lambda: began,
        )

        if not phases:
            # Of a group nothing is written here but its reservation.
            setattr(self.releaser.groups.writer, "_status", _nothing)  # noqa: B010

    def see(self, *things: Body) -> None:
        see(self.ledger, *things)
        self.releaser.wake()

    @property
    def opened(self) -> list[str]:
        """Names of pods whose gate was asked to be opened, in order."""
        pods = [call for call in self.script.patches if "/pods/" in call.path]
        return [c.path.rpartition("/")[2] for c in pods if not c.settles and not c.asks]

    @property
    def busy(self) -> bool:
        return is_busy(self.releaser)

    @property
    def idle(self) -> bool:
        return is_idle(self.releaser)

    @property
    def in_flight(self) -> int:
        """Gates whose first patch is not answered yet."""
        return self.releaser._slots.taken  # noqa: SLF001

    def tells(self, name: str) -> list[str]:
        return [reason for who, reason, _ in self.told.events if who == name]


@asynccontextmanager
async def leading(
    *things: Body, answers: tuple[Answer, ...] = (), left: float = 60.0, **options: Any
) -> AsyncIterator[Leader]:
    leader = Leader(*things, **options)
    leader.script.answers, leader.left = list(answers), left
    term = asyncio.create_task(leader.releaser.run())
    try:
        yield leader
    finally:
        term.cancel()
        await asyncio.gather(term, return_exceptions=True)
        assert no_charge_is_left(leader.ledger)


async def trip(leader: Leader) -> None:
    """The namespace `team`: three of its pods in a row are refused, and then deleted."""
    answer_to = leader.script.answer_to
    leader.script.answer_to = lambda call: (
        refused(403) if "/pods/refused-" in call.path else answer_to(call)
    )
    pods = [waiting(f"refused-{n}") for n in range(3)]
    leader.see(*pods)
    await until(lambda: {pod.name for pod in pods} <= {*leader.opened})
    await until(lambda: not leader.in_flight)
    for pod in pods:
        leader.ledger.pod_gone(pod.uid)
    leader.script.answer_to = answer_to
    leader.script.calls.clear()
    leader.told.events.clear()


def reservations(leader: Leader) -> list[Call]:
    return [call for call in leader.script.patches if "/podgroups/" in call.path]
