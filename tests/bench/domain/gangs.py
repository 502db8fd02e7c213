"""The longest step of a decision about a gang, and what a create costs behind gangs that wait.

Processor time; none may be above 100 ms, and of a review above 20 ms.
"""

import gc
from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time
from typing import Final

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.loop import BOUND
from cardquota.quota import GANG_KINDS
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.limits import ALTERNATIVES
from cardquota.quota.release import release_cycle

from ..figure import Figure, Report

EITHER: Final = f"{H200}|{H800}"
NODES: Final = 5_000
_REVIEW: Final = 20.0
"""Milliseconds of a review, of the 50 that anything may take."""


def run(report: Report) -> None:
    """Each in a ledger of its own."""
    for what, ledger in _starts():
        report(Figure(what, _longest_step(ledger), "ms", BOUND * 1000))
    for what, ledger in _of_many_cards():
        report(Figure(what, _longest_step(ledger), "ms", BOUND * 1000))
    new = _waiting("new", 1, H200).ungated().facts()
    for what, ledger in _behind():
        taken = min(_timed(partial(judge_create, ledger, new)) for _ in range(3))
        report(Figure(what, taken, "ms", _REVIEW))


def _starts() -> Iterator[tuple[str, Ledger]]:
    for number in (2_000, 10_000, 20_000):
        alike = [_member(n, 1, EITHER) for n in range(number)]
        fits = {H200: number // 2, H800: number // 2}
        yield f"a gang of {number:,} alike with a choice", _ledger(fits, alike)
        short = {**fits, H800: number // 2 - 1}
        yield f"a gang of {number:,} alike with a choice, one card short", _ledger(short, alike)
    for number in (16, 64, 10_000):
        picking = [_picking(_member(n, 1, EITHER)) for n in range(number)]
        quota = {H200: 40_000, H800: 40_000}
        ledger = _ledger(quota, picking, *_nodes(), *_full())
        yield f"a gang of {number:,} with a choice that picks {NODES:,} nodes", ledger
    for names in (H200, EITHER):
        what = "with a choice" if names == EITHER else "of one card"
        unlike = [_member(n, 1 + n % 5, names).with_cpu(f"{n + 1}m") for n in range(5_000)]
        ledger = _ledger({H200: 15_000, H800: 1}, unlike)
        yield f"a gang of 5,000 unlike members {what}", ledger
    for number in (1_000, 2_000, 20_000):
        runs = _waiting("runs", 1, H200).in_group("gang").stamped("red", {H200: 1})
        more = [_member(n, 1, H200) for n in range(number)]
        ledger = _ledger({H200: number}, more, runs.on_node("h200-a"), of=number + 1)
        yield f"minMember raised for {number:,} beside one that runs, one card short", ledger
    for number in (5_000, 20_000):
        reserved = a_group("gang").in_queue("red").of(number + 1)
        group = reserved.reserving("red", {H200: number // 2, H800: number // 2})
        members = [_member(n, 1, EITHER) for n in range(number)]
        begun = a_pod("begun").in_queue("red").in_group("gang").stamped("red", {})
        queue = _queue({H200: number, H800: number})
        yield (
            f"one of {number:,} with a choice goes on after a fail-over",
            a_ledger(*CARDS, queue, group, begun, *members),
        )


def _of_many_cards() -> Iterator[tuple[str, Ledger]]:
    """As many kinds as may be judged, each with as many cards as a pod may name. No card has quota
    for two kinds.
    """
    names = [f"NVIDIA-X{number:03}" for number in range(ALTERNATIVES.most)]
    for each in (10, 300):
        members = [
            _waiting(f"m{n}", 1, "|".join(names)).in_group("gang").of_task(f"t{n // each}")
            for n in range(each * GANG_KINDS.most)
        ]
        there = [a_node(name).with_cards(name, 8) for name in names]
        for room, what in ((each + 1, "one card each"), (each * 7 // 8, "too few cards")):
            ledger = _ledger(dict.fromkeys(names, room), members, *there)
            yield f"a gang of {GANG_KINDS.most} tasks of {each}, {len(names)} cards, {what}", ledger


def _behind() -> Iterator[tuple[str, Ledger]]:
    def gangs(number: int, of: int, change: Callable[[PodBody], PodBody]) -> list[Body]:
        found: list[Body] = []
        for gang in range(number):
            found.append(a_group(f"g{gang}").in_queue("red").of(of))
            pods = (_waiting(f"g{gang}-{n}", 1, EITHER).in_group(f"g{gang}") for n in range(of))
            found += map(change, pods)
        return found

    quota = {H200: 32, H800: 31}
    picking = gangs(4, 64, _picking)
    things = a_ledger(*_nodes(), _queue(quota), *picking, *_full())
    yield f"a create, 4 gangs of 64 wait that pick {NODES:,} nodes, one card short", things
    plain = gangs(32, 64, lambda pod: pod)
    yield "a create, 32 gangs of 64 wait, one card short", a_ledger(*CARDS, _queue(quota), *plain)
    enough = _queue({H200: 64, H800: 64})
    yield "a create, 32 gangs of 64 that could go", a_ledger(*CARDS, enough, *plain)


def _queue(quota: dict[str, int]) -> Body:
    return a_queue("red").with_quota(quota).with_policy("Deny")


def _ledger(quota: dict[str, int], members: list[PodBody], *things: Body, of: int = 0) -> Ledger:
    group = a_group("gang").in_queue("red").of(of or len(members))
    return a_ledger(*CARDS, _queue(quota), group, *things, *members)


def _waiting(name: str, cards: int, names: str) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards).gated()


def _member(number: int, cards: int, names: str) -> PodBody:
    return _waiting(f"m{number}", cards, names).in_group("gang")


def _picking(pod: PodBody) -> PodBody:
    return pod.on_nodes_labelled({"team-pool": "true"})


def _nodes() -> list[Body]:
    return [
        a_node(f"n{n:04}").with_cards(_product(n), 8).labelled("team-pool", "true")
        for n in range(NODES)
    ]


def _full() -> list[Body]:
    """Pods of another queue on all cards of these."""
    return [
        _waiting(f"f{n:04}", 8, _product(n))
        .in_queue("other")
        .stamped("other", {_product(n): 8})
        .on_node(f"n{n:04}")
        for n in range(NODES)
    ]


def _product(node: int) -> str:
    return H200 if node % 2 else H800


def _longest_step(ledger: Ledger) -> float:
    """Until the first opens, or all have been tried."""
    account = ledger.account("red")
    assert account is not None
    steps, most = iter(release_cycle(ledger, account)), 0.0
    gc.collect()
    gc.disable()
    try:
        while True:
            begun = thread_time()
            found = next(steps, "")
            most = max(most, (thread_time() - begun) * 1000)
            if found is not None:
                return most
    finally:
        gc.enable()


def _timed(work: Callable[[], object]) -> float:
    begun = thread_time()
    work()
    return (thread_time() - begun) * 1000
