"""What goes wrong with Volcano, beside which the product runs. No view of ours is old by it, and
nothing that we decide comes late.
"""

import asyncio
import signal

from ..lengths import Lengths
from ..scene import NothingDoneError, Scene
from ..volcano_side import until_part_ready
from .faults import Fault

_SCHEDULER, _CONTROLLERS = "volcano-scheduler", "volcano-controllers"


async def stop_volcanos_scheduler(scene: Scene, lengths: Lengths) -> None:
    """It stands still: what was permitted is not enqueued, and what was released not bound."""
    await scene.pause(_SCHEDULER, scene.dice.uniform(*lengths.scheduler_pause))


async def kill_volcanos_scheduler(scene: Scene, lengths: Lengths) -> None:
    """The plane starts it again: it asks about everybody anew."""
    await _kill(scene, _SCHEDULER)


async def kill_volcanos_controllers(scene: Scene, lengths: Lengths) -> None:
    """Pods come late to groups that are enqueued."""
    await _kill(scene, _CONTROLLERS)


async def lose_questions(scene: Scene, lengths: Lengths) -> None:
    """What it asks does not come to us."""
    if scene.volcano is None:
        raise NothingDoneError
    way = scene.volcano.way
    way.cut(stay_closed=True)
    try:
        await asyncio.sleep(lengths.votes)
    finally:
        way.reopen()


async def lose_answers(scene: Scene, lengths: Lengths) -> None:
    """What we answer does not come to it, but we have reserved all the same (V3)."""
    if scene.volcano is None:
        raise NothingDoneError
    way = scene.volcano.way
    before, way.loses_answers = way.lost, True
    try:
        await asyncio.sleep(lengths.votes)
    finally:
        way.loses_answers = False
    scene.tally["answers to Volcano that were lost"] += way.lost - before
    if way.lost == before:
        raise NothingDoneError


async def _kill(scene: Scene, name: str) -> None:
    before = scene.process(name)
    before.signal(signal.SIGKILL)
    while scene.process(name).pid == before.pid:
        await asyncio.sleep(0.1)
    await until_part_ready(scene.api, scene.process(name).address)


VOLCANO_FAULTS: dict[str, Fault] = {
    "Volcano's scheduler paused": stop_volcanos_scheduler,
    "Volcano's scheduler killed": kill_volcanos_scheduler,
    "Volcano's controllers killed": kill_volcanos_controllers,
    "Volcano's questions lost": lose_questions,
    "answers to Volcano lost": lose_answers,
}
"""By the name that a report gives them; beside Volcano alone."""
