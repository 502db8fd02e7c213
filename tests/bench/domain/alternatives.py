"""Cards to choose from: what a decision costs by how many pods have a choice, and of how unlike.

Twenty models, a few cards of each; pods may use two to five of them, drawn by a fixed dice. At
create all of them count, as gated Deny pods do: the answer to one more is an assignment of all.
When a card is freed, one of those that wait gets it, and its card is chosen.
"""

import random
import time

from builders import Body, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Stamp
from cardquota.quota.decisions import judge_create
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Opening
from cardquota.quota.release.openings import openings

from ..figure import Report, median

MODELS = tuple(f"Model-{number:02}" for number in range(20))
WAITING = (100, 1_000)
ROUNDS = 7
ASKED = 200
"""Questions, or freed cards, in a round."""
FLAT = 1.5


def run(report: Report) -> None:
    """One more pod at create, where it fits and where nothing does; then one freed card."""
    for what, room in (("a pod that fits", 1), ("a pod that does not fit", 0)):
        worlds = [_on_their_way(number, room) for number in WAITING]
        rounds = [[_asked(world, turn) for world in worlds] for turn in range(ROUNDS)]
        _report(report, f"create, {what}", rounds)
    held = [_waiting(number) for number in WAITING]
    rounds = [[_freed(world, turn) for world in held] for turn in range(ROUNDS)]
    _report(report, "a card is freed", rounds)


def _report(report: Report, what: str, rounds: list[list[float]]) -> None:
    few, many = WAITING
    report(median(f"{what}: {few} have a choice", [row[0] for row in rounds], "us"))
    report(median(f"{what}: {many:,} have a choice", [row[1] for row in rounds], "us"))
    ratios = [row[1] / row[0] for row in rounds]
    report(median(f"{what}: {many:,} against {few}", ratios, "", FLAT))


def _choice(dice: random.Random) -> str:
    return "|".join(dice.sample(MODELS, dice.randint(2, 5)))


def _nodes() -> list[Body]:
    return [a_node(f"{model}-{n}").with_cards(model, 8) for model in MODELS for n in range(10)]


def _on_their_way(number: int, room: int) -> tuple[Ledger, list[PodBody]]:
    """Exactly as many cards as pods, and perhaps one more of each model."""
    dice = random.Random(number)
    quota = {model: number // len(MODELS) + room for model in MODELS}
    queue = a_queue("q0").with_quota(quota).with_policy("Deny")
    ledger = a_ledger(*_nodes(), queue)
    for n in range(number):
        pod = _pod(f"p{n}", _choice(dice))
        if judge_create(ledger, pod.facts()).fits:
            see(ledger, pod.gated())
    return ledger, [_pod(f"new{n}", _choice(dice)) for n in range(ASKED)]


def _asked(world: tuple[Ledger, list[PodBody]], _turn: int) -> float:
    ledger, pods = world
    asked = [pod.facts() for pod in pods]
    begun = time.perf_counter()
    for facts in asked:
        judge_create(ledger, facts)
    return (time.perf_counter() - begun) * 1e6 / len(asked)


def _waiting(number: int) -> tuple[Ledger, int]:
    """Everything is held; those with a choice wait their turn."""
    dice = random.Random(number)
    most = ROUNDS * ASKED
    queue = a_queue("q0").with_quota(dict.fromkeys(MODELS, most)).with_policy("Gate")
    ledger = a_ledger(*_nodes(), queue, *(_holder(model, most) for model in MODELS))
    for n in range(number + most):
        see(ledger, _pod(f"p{n}", _choice(dice)).gated())
        if n == number:
            _decide(ledger)
    _decide(ledger)
    return ledger, most


def _freed(world: tuple[Ledger, int], turn: int) -> float:
    """Microseconds for one card that becomes free, the decision included."""
    ledger, most = world
    spent = 0.0
    for step in range(ASKED // len(MODELS)):
        for model in MODELS:
            revision = 10 + turn * ASKED + step
            left = most - (turn * ASKED // len(MODELS) + step + 1)
            see(ledger, _holder(model, left).at_revision(revision))
            begun = time.perf_counter()
            _decide(ledger)
            spent += time.perf_counter() - begun
    return spent * 1e6 / ASKED


def _decide(ledger: Ledger) -> None:
    for found in openings(ledger, "q0"):
        if isinstance(found, Opening):
            for record, cards in found.pods:
                ledger.decisions.assume(record.facts.uid, Stamp("q0", cards, "term"))


def _pod(name: str, cards: str) -> PodBody:
    return a_pod(name).in_queue("q0").naming(cards).asking_for(1)


def _holder(model: str, cards: int) -> PodBody:
    pod = a_pod(f"holder-{model}").in_queue("q0").naming(model).asking_for(cards)
    return pod.stamped("q0", {model: cards}).on_node(f"{model}-0")
