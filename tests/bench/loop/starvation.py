"""The longest stretch of the event loop where many have waited too long for room (E6).

One queue of 20 models is full. 20,000 pods wait there, of which 10,000 all ask for something else,
and all of them have waited too long; or 70 gangs of 200 members do,
whose members ask for 60 amounts, or are each of a task of its own. A figure is taken as in
`stalls`.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from builders import H200, a_group, a_node, a_queue
from builders.pod import PodBody
from cardquota.quota.pods import PodFacts

from ..bodies import stall_bodies
from ..figure import Report
from . import stall_world
from .stall_world import CARDS, WAITING, World
from .stalls import Figures, answer, see, take_over

_QUEUE: Final = "q0000"
_GANGS: Final = 70
_DIFFERENT: Final = 10_000
_MEMBERS: Final = 200
_AMOUNTS: Final = 60
_LARGE: Final = 20_000
"""The quota of a card that is large enough for any of the gangs."""


def run(report: Report) -> None:
    """One cluster after the other."""
    stall_world.run(lambda world: _at_once(Figures(report, world)))
    for what, member in _KINDS.items():

        async def gangs(
            world: World, what: str = what, member: Callable[[int], PodBody] = member
        ) -> None:
            await _gangs(Figures(report, world), what, member)

        stall_world.run(gangs)


async def _at_once(figures: Figures) -> None:
    """All are as old, to the second."""
    world = figures.world
    _fill(world, dict.fromkeys(CARDS, 1))
    created = datetime.fromtimestamp(time.time() - world.settings.release.starvation_wait, UTC)
    born, pod = created.strftime("%Y-%m-%dT%H:%M:%SZ"), stall_world.gated(_QUEUE)
    for number in range(WAITING):
        name, card = f"pod-{number:05}", CARDS[number % len(CARDS)]
        facts = pod.naming(card).with_cpu(f"{min(number, _DIFFERENT)}m").facts()
        world.charge(replace(facts, uid=name, name=name, created=born))
    world.settle()
    where = f"{WAITING:,} wait, {_DIFFERENT:,} of them for different amounts"

    await figures.take(f"take-over, {where}", take_over(world))
    await figures.take(f"another look, {where}", _look(world))
    await _what_happens(figures, where, dict.fromkeys(CARDS, 1))


async def _gangs(figures: Figures, what: str, member: Callable[[int], PodBody]) -> None:
    """All have waited too long when the term begins. Each has a priority of its own."""
    world = figures.world
    quota = {**dict.fromkeys(CARDS, 0), H200: _LARGE, CARDS[0]: _LARGE}
    _fill(world, quota)
    facts = [member(number).facts() for number in range(_MEMBERS)]
    tasks = {one.task: 1 for one in facts if one.task}
    for number in range(_GANGS):
        world.see("priorityclasses", _class(number))
        group = a_group(f"gang-{number}").in_namespace(_QUEUE).in_queue(_QUEUE).of(_MEMBERS)
        group = group.of_class(f"p{number}").with_uid(f"u-gang-{number}")
        world.see("podgroups", (group.of_tasks(tasks) if tasks else group).body)
        for place, one in enumerate(facts):
            world.charge(_renamed(one, f"gang-{number}", place))
    world.settle()
    where = f"{_GANGS} gangs of {_MEMBERS} {what} have waited too long"

    await figures.take(f"take-over, {where}", take_over(world))
    await _what_happens(figures, where, quota)


async def _what_happens(figures: Figures, where: str, quota: dict[str, int]) -> None:
    """Behind those who have waited too long."""
    world = figures.world
    pods = (stall_world.gated(_QUEUE).with_uid(f"new-{n}") for n in range(2))
    pods = (pod.put(pod.uid, "metadata", "name") for pod in pods)
    await figures.take(f"a pod comes, {where}", *(see(world, "pods", pod.body) for pod in pods))
    review = stall_bodies.review(stall_world.gated(_QUEUE).ungated())
    await figures.take(f"review of a pod, {where}", *2 * [answer(world, "/mutate", review)])
    more = ({card: number + n * (number > 0) for card, number in quota.items()} for n in (1, 2))
    await figures.take(
        f"a card more of each, {where}", *(see(world, "queues", _queue(one)) for one in more)
    )
    nodes = (a_node(f"new-{n}").with_cards(H200, 8).body for n in range(2))
    await figures.take(f"a node comes, {where}", *(see(world, "nodes", node) for node in nodes))
    await figures.take(f"a term ends, {where}", world.follow)


def _fill(world: World, quota: dict[str, int]) -> None:
    """One queue with that quota, all of it held by one pod of each card."""
    world.fill(pods=0, waiting=0, queues=1)
    world.see("queues", _queue(quota))
    for card, number in quota.items():
        if number:
            name = f"runs-{card.lower()}"
            pod = stall_world.stamped(_QUEUE).naming(card).asking_for(number)
            pod = pod.stamped(_QUEUE, {card: number}).on_node("node-0001").in_phase("Running")
            world.charge(replace(pod.facts(), uid=name, name=name))


def _queue(quota: dict[str, int]) -> dict[str, Any]:
    return a_queue(_QUEUE).with_quota(quota).with_uid(f"u-{_QUEUE}").body


def _class(number: int) -> dict[str, Any]:
    return {"metadata": {"name": f"p{number}", "uid": f"u-p{number}"}, "value": number}


def _look(world: World) -> Callable[[], None]:
    """The queue is looked at once more."""

    def look() -> None:
        world.ledger.dirty.mark_pending(_QUEUE)
        world.notifier.notify()

    return look


def _renamed(facts: PodFacts, group: str, place: int) -> PodFacts:
    name = f"{group}-{place}"
    return replace(facts, uid=name, name=name, group=f"{_QUEUE}/{group}")


def _member(number: int) -> PodBody:
    """Of a group that is named later."""
    return stall_world.gated(_QUEUE).in_queue(None).in_group("gang").with_uid(f"m{number}")


def _of_amounts(number: int) -> PodBody:
    return _member(number).asking_for(1 + number % _AMOUNTS)


_KINDS: Final[dict[str, Callable[[int], PodBody]]] = {
    f"members of {_AMOUNTS} amounts": _of_amounts,
    f"members of {_AMOUNTS} amounts of two cards": (
        lambda number: _of_amounts(number).naming(f"{H200}|{CARDS[0]}")
    ),
    "tasks": lambda number: _member(number).of_task(f"task-{number}"),
    "tasks and amounts of two cards": (
        lambda number: _of_amounts(number).of_task(f"t{number}").naming(f"{H200}|{CARDS[0]}")
    ),
}
