"""Who gives cards back: what a round of plans costs, and its longest step.

5,000 nodes with 20 cards each, all of which are in use, and 1,000 queues. Half of them hold twice
what they deserve; one of the others waits. Processor time.
"""

import gc
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from builders import Body, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Steps
from cardquota.quota.answers import AskedWorkload, ReclaimRules, explain
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodFacts
from cardquota.quota.reclaim import Plan, plans, reclaim_waiters
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim

from ..figure import Figure, Report, median

T = TypeVar("T")
NODES = 5_000
PER_NODE = 20
QUEUES = 1_000
MODELS = (20, 5, 1)
ROUNDS = 5
MOST = 100.0
"""Milliseconds of processor time for a plan, but where all cards are of one model: then most of
the time is spent on fetching 100,000 pods from memory."""
LONGEST = 20.0
"""Of a step."""
WAITING: Final = 20_000
LONGEST_ANSWER: Final = 100.0
"""The same of an answer, while so many wait (I5)."""


def run(report: Report) -> None:
    """With many models, with as many as clusters have, and with one."""
    for models in MODELS:
        ledger = _cluster(models)
        gc.collect()
        gc.freeze()  # as the operator does
        what = f"{models} models" if models > 1 else "one model"
        most = MOST if models > 1 else None
        _measure(report, ledger, f"{what}: a pod of one card", [_waits("one", 1)], most)
        _measure(report, ledger, f"{what}: a pod of eight", [_waits("eight", 8)], most)
        group = a_group("gang").in_queue(_queue(QUEUES - 1)).of(10)
        members = [_waits(f"m{number}", 8).in_group("gang") for number in range(10)]
        _measure(report, ledger, f"{what}: a gang of ten, of eight cards", [group, *members], most)
        several = [_waits(f"s{number}", 1) for number in range(20)]
        _measure(report, ledger, f"{what}: 20 pods that wait", several, most)
        large = [_waits("large", PER_NODE + 1)]
        _measure(report, ledger, f"{what}: a pod that is too large", large, most, found=False)
        _ask(report, ledger, what)


def _ask(report: Report, ledger: Ledger, what: str) -> None:
    """What a question costs about one of many that wait, and about one that runs (L7)."""
    see(ledger, *(_waits(f"w{number}", 1) for number in range(WAITING)))
    mode_in = Reclaim(mode=ReclaimMode.ON).mode_in
    rules = ReclaimRules(mode_in, 60.0, 30.0, False, (), {}, 0.0, 0.0)
    waits, runs = f"one of {WAITING:,} that wait", f"one that runs, while {WAITING:,} wait"
    for about, name, state in ((waits, "w0", "Possible"), (runs, "p0", "MayEnd")):
        longest = []
        for _ in range(ROUNDS):
            spent: list[float] = []
            asked = AskedWorkload("Pod", ledger.pods["p0"].facts.namespace, name)
            found = _timed(explain(ledger, asked, "2026-01-01T00:00:00Z", rules=rules), spent)
            if found is None or found.reclaim is None or found.reclaim.state != state:
                raise RuntimeError(f"it is not told that it is {state}")
            longest.append(max(spent) * 1000)
        one = f"{what}: a question about {about}"
        report(Figure(f"{one}, longest step", min(longest), "ms", LONGEST_ANSWER))


def _measure(
    report: Report,
    ledger: Ledger,
    what: str,
    waiting: Sequence[Body],
    most: float | None,
    *,
    found: bool = True,
) -> None:
    see(ledger, *waiting)
    since = dict.fromkeys(ledger.unplaced, 0.0)
    totals, longest = [], []
    for _ in range(ROUNDS):
        steps = _steps(ledger, since, found=found)
        totals.append(sum(steps) * 1000)
        longest.append(max(steps) * 1000)
    report(median(what, totals, "ms", most))
    report(Figure(f"{what}, longest step", min(longest), "ms", LONGEST))
    for one in waiting:
        if isinstance(one, PodBody):
            ledger.pod_gone(one.uid)


def _steps(ledger: Ledger, since: dict[str, float], *, found: bool) -> list[float]:
    """Seconds of each."""
    spent: list[float] = []
    waiting = _timed(reclaim_waiters(ledger, since, 60.0, 60.0), spent)
    made = _timed(plans(ledger, waiting), spent)
    planned = [one for one in made if isinstance(one, Plan)]
    if len(planned) != (len(waiting) if found else 0) or not made:
        raise RuntimeError(f"{len(waiting)} wait, {len(planned)} of {len(made)} plans were found")
    return spent


def _timed(steps: Steps[T], spent: list[float]) -> T:
    """To the end: what comes of it."""
    while True:
        begun = time.thread_time()
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        finally:
            spent.append(time.thread_time() - begun)


def _queue(number: int) -> str:
    return f"q{number:03}"


def _card(number: int) -> str:
    return f"NVIDIA-MODEL-{number:02}"


def _cluster(models: int) -> Ledger:
    ledger = a_ledger()
    cards = [_card(number) for number in range(models)]
    shape = a_node("node")
    for number in range(NODES):
        card = cards[number % models]
        see(ledger, shape.put(f"n{number}", "metadata", "name").with_cards(card, PER_NODE))
    quota = dict.fromkeys(cards, NODES * PER_NODE // models)
    for number in range(QUEUES):
        last = number == QUEUES - 1
        see(ledger, a_queue(_queue(number)).with_quota(quota).weighing(QUEUES if last else 1))
    held = NODES * PER_NODE // (QUEUES // 2)
    templates: dict[tuple[int, int], PodFacts] = {}
    for number in range(NODES * PER_NODE):
        node = number % NODES
        queue, model = (
            number // NODES + PER_NODE * (node % (QUEUES // 2 // PER_NODE)),
            node % models,
        )
        if (queue, model) not in templates:
            pod = a_pod("p").in_queue(_queue(queue)).naming(cards[model]).asking_for(1)
            stamped = pod.stamped(_queue(queue), {cards[model]: 1}).on_node("n").with_priority(5)
            templates[queue, model] = stamped.facts()
        uid = f"p{number}"
        facts = replace(templates[queue, model], uid=uid, name=uid, node=f"n{node}")
        ledger.pod_seen(replace(facts, scheduled=f"2026-01-01T{number // 5_000:02}:00:00Z"))
    if held * QUEUES // 2 != len(ledger.pods):
        raise RuntimeError(f"{len(ledger.pods)} pods")
    return ledger


def _waits(name: str, cards: int) -> PodBody:
    queue = _queue(QUEUES - 1)
    pod = a_pod(name).in_queue(queue).naming(_card(0)).asking_for(cards)
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return pod.stamped(queue, {_card(0): cards}).put([said], "status", "conditions")
