"""The longest stretch of the event loop for events of large pod groups, and of many silent ones.

A gang of 10,000 members with as many tasks as may be, groups that ask for as much as can be read,
and 20,000 groups that say nothing of what they will ask for. A figure is taken as in `stalls`.
"""

from dataclasses import replace
from typing import Any, Final

from builders import H200, a_group, a_namespace, a_queue
from builders.group import GroupBody
from cardquota.quota import REQUEST_CARDS, TASKS

from ..bodies.group_bodies import group_bodies
from ..figure import Report
from . import stall_world
from .stall_world import CARDS, WAITING, World
from .stalls import Figures, done, drop, see, take_over

_QUEUE: Final = "q0000"
_MEMBERS: Final = 10_000
_MODELS: Final = (*CARDS, *(f"CARD-{n}" for n in range(REQUEST_CARDS.most - len(CARDS))))


def run(report: Report) -> None:
    """One cluster after the other."""
    stall_world.run(lambda world: _tasks(Figures(report, world)))
    stall_world.run(lambda world: _requests(Figures(report, world)))
    stall_world.run(lambda world: _silent(Figures(report, world)))


async def _tasks(figures: Figures) -> None:
    """Ten thousand members of 256 tasks; the gang is one card short, and then it is not."""
    world = figures.world
    _fill(world, {H200: _MEMBERS - 1})
    each = _MEMBERS // TASKS.most
    world.see("podgroups", _gang(each).body)
    facts = stall_world.gated(_QUEUE).in_queue(None).in_group("gang").facts()
    for number in range(_MEMBERS):
        name = f"member-{number}"
        world.charge(replace(facts, uid=name, name=name, task=f"t{number % TASKS.most}"))
    world.settle()
    where = f"{_MEMBERS:,} members of {TASKS.most} tasks"

    await figures.take(f"take-over, a gang of {where}", take_over(world))
    others = (_gang(each - n).body for n in (1, 0))
    await figures.take(
        f"the minimum of each task changes, {where}",
        *(see(world, "podgroups", group) for group in others),
    )
    short = (_gang(each, more=f"t{n}").body for n in range(2))
    await figures.take(
        f"one task has too few pods, {where}",
        *(see(world, "podgroups", group) for group in short),
    )
    world.see("podgroups", _gang(each).body)
    await done(world)
    pod = stall_world.gated(_QUEUE).in_queue(None).in_group("gang").of_task("t0")
    pods = (pod.with_uid(f"new-{n}").put(f"new-{n}", "metadata", "name") for n in range(2))
    await figures.take(
        f"one more pod is created, {where}", *(see(world, "pods", pod.body) for pod in pods)
    )
    await figures.take(
        f"the whole gang starts, {where}", see(world, "queues", _queue({H200: 2 * _MEMBERS}))
    )
    await figures.take(
        f"the gang loses its podgroup, {where}", drop(world, "podgroups", _gang(1).body)
    )
    await figures.take(f"a term ends, {where}", world.follow)


async def _requests(figures: Figures) -> None:
    """Each kind of body once beside nothing; then 20,000 groups with 64 rows, all unlike."""
    world = figures.world
    _fill(world, dict.fromkeys(_MODELS, 3))
    world.lead()
    await done(world)
    twice = zip(*(group_bodies(salt, _QUEUE) for salt in (1, 2)), strict=True)
    for (what, one), (_, other) in twice:
        groups = (group.in_namespace(_QUEUE).with_uid("odd").body for group in (one, other))
        await figures.take(
            f"watch of a group, {what}", *(see(world, "podgroups", group) for group in groups)
        )
    await world.follow()
    for number in range(WAITING):
        asked = {card: 1 + (number >> place) % 2 for place, card in enumerate(_MODELS)}
        group = _group(f"asks-{number:05}").requesting(asked).needing({"cpu": f"{number}m"})
        world.see("podgroups", group.body)
    world.settle()
    where = f"{WAITING:,} groups that request {REQUEST_CARDS.most} cards"

    await figures.take(f"take-over, {where}", take_over(world))
    more = (_queue(dict.fromkeys(_MODELS, 3 + n)) for n in (1, 2))
    await figures.take(
        f"a queue's quota is edited, {where}", *(see(world, "queues", one) for one in more)
    )
    await figures.take(f"a term ends, {where}", world.follow)


async def _silent(figures: Figures) -> None:
    """20,000 groups of one queue and namespace that ask for nothing and have no pods."""
    world = figures.world
    _fill(world, {H200: 8})
    for number in range(WAITING):
        world.see("podgroups", _group(f"silent-{number:05}").body)
    world.settle()
    where = f"{WAITING:,} groups without pods and without a request"

    await figures.take(f"take-over, {where}", take_over(world))
    queue = a_queue(_QUEUE).with_quota({H200: 8}).with_uid(f"u-{_QUEUE}")
    await figures.take(f"their queue is closed, {where}", see(world, "queues", queue.closed().body))
    await figures.take(f"their queue is opened, {where}", see(world, "queues", queue.body))
    shut = queue.open_to("others").body
    await figures.take(
        f"their queue is closed to their namespace, {where}", see(world, "queues", shut)
    )
    world.see("queues", queue.body)
    await done(world)
    for mode in ("audit", "enforced", "off"):
        changed = a_namespace(_QUEUE).in_mode(mode).body
        await figures.take(
            f"their namespace's mode becomes {mode}, {where}", see(world, "namespaces", changed)
        )
    gone = drop(world, "queues", queue.body)
    await figures.take(f"their queue is deleted, {where}", gone)
    await figures.take(f"a term ends, {where}", world.follow)


def _fill(world: World, quota: dict[str, int]) -> None:
    world.fill(pods=0, waiting=0, queues=1)
    world.see("queues", _queue(quota))


def _queue(quota: dict[str, int]) -> dict[str, Any]:
    return a_queue(_QUEUE).with_quota(quota).with_uid(f"u-{_QUEUE}").body


def _group(name: str) -> GroupBody:
    return a_group(name).in_namespace(_QUEUE).in_queue(_QUEUE).of(2).with_uid(f"u-{name}")


def _gang(each: int, *, more: str = "") -> GroupBody:
    """So many of each task, and a thousand more of one of them."""
    tasks = {f"t{n}": each for n in range(TASKS.most)}
    if more:
        tasks = {**dict.fromkeys(tasks, each - 10), more: each + 1_000}
    return _group("gang").of(_MEMBERS).of_tasks(tasks)
