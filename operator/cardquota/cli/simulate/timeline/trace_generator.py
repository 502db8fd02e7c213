"""A plausible trace for the queues and nodes of files, decided by a seed alone.

What is imitated: jobs come in bursts of alike ones, on working days more than at night; most are
small and short, and a few large and long ones hold most of the card time; one in a hundred asks for
more than its queue may ever hold. Every queue and every card of its quota has jobs. The jobs come
in so much time that `LOAD` of the most crowded quota, or of its nodes, is asked for.

A trace to try quotas with, not a forecast: whoever has a history reads that one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from random import Random
from typing import Final

from ....quota.ledger.ledger import Ledger
from ....quota.names.wildcards import is_pattern
from ....quota.nodes.node_facts import node_facts
from ....quota.objects.priority_class import PriorityClass
from ...files.inventory import Inventory
from .trace_job import DEFAULT_NAMESPACE, MOST_CARDS, MOST_PODS_OF_ONE, TraceJob

LOAD: Final = 1.25
"""What jobs ask for while they come, as a part of what could be held: of the quota, or of the nodes
with one card, that is asked for most. Above 1 jobs have to wait."""
MEDIAN_DURATION: Final = 30 * 60
"""Seconds."""
LONGEST_DURATION: Final = 3 * 86_400
"""Seconds."""
_SPREAD: Final = 1.3
"""Of the logarithm of the duration: one job in ten runs five times the median, or longer."""
_TAIL: Final = 0.9
"""Twice the cards are asked for 2**0.9 times as seldom."""
_GO_ON: Final = 0.7
"""The chance that one more job of a burst follows."""
_LONGEST_BURST: Final = 60
_PAUSE: Final = 20.0
"""Seconds between two jobs of a burst, on average."""
_TOO_LARGE: Final = 0.01
_WITH_CLASS: Final = 0.2
"""The part of the bursts that names a priority class, if there is any."""
_BY_HOUR: Final = (*[0.2] * 8, *[1.0] * 11, *[0.5] * 3, *[0.2] * 2)
_WEEKEND: Final = 0.3
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR


@dataclass(slots=True, frozen=True)
class _Purpose:
    """A card of a queue's quota, for which jobs are made."""

    queue: str
    namespace: str
    card: str
    quota: int
    there: int
    """Cards of all nodes; 0: no node has it."""
    of_a_node: int
    """The most that one node has; at least 1."""


@dataclass(slots=True, frozen=True)
class _JobShape:
    """What jobs of one burst have in common."""

    purpose: _Purpose
    pods: int
    cards: int
    seconds: float
    priority: str


def generated_trace(
    inventory: Inventory, ledger: Ledger, *, jobs: int, seed: int
) -> list[TraceJob]:
    """So many jobs, by arrival; equal for equal files, number and seed. Empty if no queue has a
    quota. `ledger`: one that has seen the inventory.
    """
    random = Random(seed)  # noqa: S311
    purposes = _purposes(inventory, ledger)
    if not purposes or not jobs:
        return []
    bursts = list(_bursts(random, purposes, _classes(inventory.priority_classes), jobs))
    begins = _begins(random, len(bursts), _span(bursts, purposes))
    made = [
        (at, job)
        for begin, burst in zip(begins, bursts, strict=True)
        for at, job in _in_time(random, begin, burst)
    ]
    made.sort(key=lambda one: one[0])
    first, digits = made[0][0], len(str(jobs))
    return [
        replace(job, name=f"job-{number:0{digits}}", arrival=at - first)
        for number, (at, job) in enumerate(made, start=1)
    ]


def _purposes(inventory: Inventory, ledger: Ledger) -> list[_Purpose]:
    largest: dict[str, int] = {}
    for node in inventory.nodes:
        for there, amount in node_facts(node, ledger.vendors).cards:
            largest[there.name] = max(largest.get(there.name, 0), amount)
    found = []
    for account in sorted(ledger.accounts(), key=lambda one: one.name):
        facts = account.facts
        if facts is None:
            continue
        namespace = _namespace(facts.namespaces)
        for card in account.cards:
            quota, total = account.quota[card], ledger.nodes.total(card)
            if quota:
                of_a_node = min(max(1, largest.get(card, 1)), MOST_CARDS)
                found.append(_Purpose(account.name, namespace, card, quota, total, of_a_node))
    return found


def _namespace(allowed: Sequence[str] | None) -> str:
    """One that may use the queue, if any is named."""
    if allowed is None or DEFAULT_NAMESPACE in allowed:
        return DEFAULT_NAMESPACE
    named = [name for name in allowed if not is_pattern(name)]
    return named[0] if named else DEFAULT_NAMESPACE


def _classes(found: Sequence[PriorityClass]) -> list[str]:
    return sorted(one.metadata.name for one in found)


def _bursts(
    random: Random, purposes: Sequence[_Purpose], classes: Sequence[str], jobs: int
) -> Iterator[list[TraceJob]]:
    """Jobs alike, without a name and an arrival. Each purpose has one burst before any has two."""
    first = random.sample(purposes, len(purposes))
    weights = [purpose.quota for purpose in purposes]
    asked = dict.fromkeys(purposes, 0)
    """Card-seconds."""
    while jobs:
        # Of two the one that less was asked of: no quota is left idle beside one that is crowded.
        two = [first.pop()] if first else random.choices(purposes, weights, k=2)
        purpose = min(two, key=lambda one: asked[one] / one.quota)
        kind = _kind(random, purpose, classes)
        number = 1
        # Before each purpose had its turn, bursts are short enough that all of them come to it.
        most = min(_LONGEST_BURST, max(1, jobs - len(first)), _most_at_once(kind))
        while number < most and random.random() < _GO_ON:
            number += 1
        jobs -= number
        burst = [_job(random, kind) for _ in range(number)]
        asked[purpose] += sum(job.all_cards * job.duration for job in burst)
        yield burst


def _kind(random: Random, purpose: _Purpose, classes: Sequence[str]) -> _JobShape:
    most = max(1, min(purpose.quota, purpose.there or purpose.quota))
    if random.random() < _TOO_LARGE:
        wanted = purpose.quota + random.randint(1, purpose.quota)
    else:
        sizes = [2**power for power in range(most.bit_length())]
        wanted = random.choices(sizes, [size**-_TAIL for size in sizes])[0]
    cards = min(wanted, purpose.of_a_node)
    if wanted > 1 and random.random() < 0.1:
        cards = 1  # one process for each card, each in its own pod
    pods = min(-(-wanted // cards), MOST_PODS_OF_ONE)
    seconds = exp(random.gauss(log(MEDIAN_DURATION), _SPREAD))
    named = bool(classes) and random.random() < _WITH_CLASS
    return _JobShape(purpose, pods, cards, seconds, random.choice(classes) if named else "")


def _most_at_once(kind: _JobShape) -> int:
    """Who asks for much of the quota does not come in long bursts."""
    return max(1, 2 * kind.purpose.quota // (kind.pods * kind.cards))


def _job(random: Random, kind: _JobShape) -> TraceJob:
    seconds = round(kind.seconds * random.uniform(0.7, 1.3))
    return TraceJob(
        name="",
        namespace=kind.purpose.namespace,
        queue=kind.purpose.queue,
        card=kind.purpose.card,
        cards=kind.cards,
        pods=kind.pods,
        arrival=0,
        duration=min(max(60, seconds), LONGEST_DURATION),
        priority=kind.priority,
    )


def _span(bursts: Sequence[Sequence[TraceJob]], purposes: Sequence[_Purpose]) -> int:
    """Seconds in which the bursts begin. What can never run does not count."""
    served: dict[tuple[str, str], int] = {}
    """By queue and card, and by card alone (an empty queue): how many can be held at once."""
    for purpose in purposes:
        served[purpose.queue, purpose.card] = min(purpose.quota, purpose.there)
        served["", purpose.card] = served.get(("", purpose.card), 0) + purpose.quota
    for purpose in purposes:
        served["", purpose.card] = min(served["", purpose.card], purpose.there)
    asked: dict[tuple[str, str], int] = {}
    for burst in bursts:
        for job in burst:
            if job.all_cards <= served[job.queue, job.card]:
                for key in ((job.queue, job.card), ("", job.card)):
                    asked[key] = asked.get(key, 0) + job.all_cards * job.duration
    spans = (amount / (served[key] * LOAD) for key, amount in asked.items())
    return max(_HOUR, round(max(spans, default=0)))


def _begins(random: Random, number: int, span: int) -> list[int]:
    """When each burst begins, in the order of the bursts."""
    found: list[int] = []
    while len(found) < number:
        at = random.randrange(span)
        weekend = at // _DAY % 7 >= 5
        if random.random() < _BY_HOUR[at // _HOUR % 24] * (_WEEKEND if weekend else 1.0):
            found.append(at)
    return found


def _in_time(
    random: Random, begin: int, burst: Sequence[TraceJob]
) -> Iterator[tuple[int, TraceJob]]:
    at = float(begin)
    for job in burst:
        yield int(at), job
        at += random.expovariate(1 / _PAUSE)
