"""When the leader is killed, and what else goes wrong meanwhile: two rows of events by one seed."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from random import Random
from typing import Any

from ..lengths import BEFORE_RELEASE, STANDS_STILL, Lengths
from ..scene import NothingDoneError, Scene
from .faults import ENDS_A_TERM, FAULTS, Fault, restart_the_api_server, until_somebody_ends
from .volcano_faults import VOLCANO_FAULTS

_SOME = 3
_PATIENCE = 60.0
_STALE = 2.0
_LATE = 2.0


class Kills:
    """Kills the leader again and again, once it has let enough through."""

    def __init__(self, scene: Scene, lengths: Lengths, seed: str, only: str = "") -> None:
        """`only`: one kind of kill instead of each in turn."""
        self._scene, self._lengths, self._dice = scene, lengths, Random(seed)
        self._kinds: dict[str, Callable[[int], Awaitable[None]]] = {
            BEFORE_RELEASE: self._between_an_eviction_and_the_release,
            "plain": self._plain,
            "with patches on their way": self._with_patches_on_their_way,
            "between writes and their answers": self._between_writes_and_answers,
            "while the others are told nothing": self._while_the_others_are_told_nothing,
        }
        if scene.volcano is not None:
            del self._kinds[BEFORE_RELEASE]  # nobody is ended for others there
        self._only = only
        self._killed = asyncio.Event()
        self.count = 0

    async def run(self, over: asyncio.Event) -> None:
        """Until it is over; what has begun is brought to its end."""
        self._over = over
        kinds = self._lengths.kill_kinds or tuple(self._kinds)
        while True:
            pause = self._dice.uniform(*self._lengths.between_kills)
            kind = self._only or kinds[self.count % len(kinds)]
            leader = await self._enough(time.monotonic() + pause, over)
            if leader is None:
                return
            with self._scene.noted(f"kill: {kind}"):
                await self._kinds[kind](leader)
            self._scene.tally["kills"] = self.count

    async def _enough(self, not_before: float, over: asyncio.Event) -> int | None:
        """The leader, once the time has come and it has let enough through in its term."""
        leader, begun = None, 0
        while not over.is_set():
            now = await self._scene.deciding()
            if now is not None:
                count = await self._scene.releases(now)
                if now != leader or count < begun:
                    leader, begun = now, count
                enough = count - begun >= self._lengths.releases_before_a_kill
                due = enough and time.monotonic() >= not_before
                if due and not self._scene.needs_a_term:
                    return now
            await asyncio.sleep(0.3)
        return None

    async def _plain(self, leader: int) -> None:
        self._kill(leader)

    async def _between_an_eviction_and_the_release(self, _: int) -> None:
        """Its successor releases who waits, and ends nobody else for it."""
        await until_somebody_ends(self._scene, self._over)
        leader = await self._scene.leader()
        if leader is None:
            raise NothingDoneError
        self._kill(leader)
        await restart_the_api_server(self._scene, self._lengths)

    async def _with_patches_on_their_way(self, leader: int) -> None:
        """What it sent last comes only when its successor has given the cards to others."""
        steady = self._scene.steady
        with self._scene.answers_are_late(anew=True):
            event = self._scene.ways[leader].hold(self._dice)
            try:
                await steady.free(self._dice, _SOME)
                await asyncio.sleep(self._dice.uniform(*self._lengths.held_before_death))
                self._kill(leader)
                await steady.urgent(_SOME)
                await self._scene.until_deciding(but=leader)
                await asyncio.sleep(_LATE)
            finally:
                event.set()

    async def _between_writes_and_answers(self, leader: int) -> None:
        """What it wrote last is stored, and nobody was told: gates are open, pods are bound."""
        with self._scene.views_are_old(anew=True):  # what its watches would bring is kept, too
            event = self._scene.ways[leader].keep_answers()
            try:
                await self._scene.steady.free(self._dice, _SOME)
                await asyncio.sleep(self._dice.uniform(*self._lengths.held_before_death))
                self._kill(leader)
                await self._scene.until_deciding(but=leader)
            finally:
                event.set()

    async def _while_the_others_are_told_nothing(self, leader: int) -> None:
        """Its successor knows of more quota, but not to whom it was given.

        It has to know that its view is old.
        """
        others = [way for number, way in enumerate(self._scene.ways) if number != leader]
        with self._scene.views_are_old(anew=True):
            events = [way.stall_watches(pods_alone=True) for way in others]
            try:
                await self._scene.steady.raise_quota(_SOME)
                await asyncio.sleep(_STALE)
                self._kill(leader)
                await self._scene.until_deciding(but=leader)
                await asyncio.sleep(_LATE)
            finally:
                for event in events:
                    event.set()

    def _kill(self, leader: int) -> None:
        self._scene.signal(f"cardquota-{leader}", signal.SIGKILL)
        self.count += 1
        self._killed.set()
        self._killed.clear()

    async def another(self) -> None:
        """Return when the leader is killed the next time, or after a while."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._killed.wait(), _PATIENCE)


async def everything_else(
    scene: Scene, lengths: Lengths, seed: str, kills: Kills, over: asyncio.Event
) -> None:
    """One fault after the other, each kind as often as any other, until it is over.

    Those that end a term by themselves come soon after a kill: at other times they would leave
    no term long enough for one, and there they meet a leader that is just taking over.
    """
    dice, known = Random(seed), known_faults(volcano=scene.volcano is not None)
    while not over.is_set():
        names = list(lengths.faults) or dice.sample(sorted(known), len(known))
        done = scene.tally[f"fault: {STANDS_STILL}"]
        if f"fault: {STANDS_STILL}" in lengths.wanted and not done:
            names = [STANDS_STILL]
        elif lengths.faults:  # in a short run once: it takes long
            names = [name for name in names if name != STANDS_STILL] or names
        for name in names:
            if name in ENDS_A_TERM and not lengths.faults:
                await _first(kills.another(), over.wait())
            await asyncio.sleep(dice.uniform(*lengths.between_faults))
            if over.is_set():
                return
            with scene.noted(f"fault: {name}"):
                await known[name](scene, lengths)


def known_faults(*, volcano: bool) -> dict[str, Fault]:
    """What may go wrong, by name; `volcano`: where that is there, and nobody ends for others."""
    if not volcano:
        return FAULTS
    known = {**FAULTS, **VOLCANO_FAULTS}
    del known[STANDS_STILL]
    return known


async def _first(*works: Coroutine[Any, Any, object]) -> None:
    """Return when one of them is done."""
    tasks = [asyncio.create_task(work) for work in works]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
