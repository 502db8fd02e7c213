"""Whose gate opens next: what a decision costs with many queues and with many pods waiting.

One card is freed at a time; what is timed is the whole decision: which queue, who in it, charging
it. The patch that opens the gate is not part of it.
"""

import time

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from builders.queue_order import queue_order
from cardquota.quota import Stamp, is_card
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Refusal, Starvation
from cardquota.quota.release.cycle import openings

from ..figure import Report, median

WAITING = (10, 1_000, 10_000)
QUEUES = (10, 100, 1_000)
FREED = 40
"""Cards that become free in a round, two at a time."""
ROUNDS = 5
ALL_TOO_LONG = Starvation(4e9, 3_600)
"""Everybody has waited too long; so nobody takes what frees but the first."""
QUOTA = 10**6
OTHERS = tuple(f"NVIDIA-MODEL-{number:02}" for number in range(18))
"""Cards of the first queue beside the two that are held: there is none of them."""


def run(report: Report) -> None:
    """Costs by who waits and by how many queues there are; ratios of the most to the least."""
    for what, crowd in (
        ("pods alike", _alike),
        ("pods all unlike", _unlike),
        ("gangs of two", _gangs),
        ("groups to be enqueued, 20 models", _asking),
    ):
        worlds = [_world(crowd(number)) for number in WAITING]
        _compare(report, what, WAITING, worlds, "q0")
    for what, crowd in (("pods all unlike", _unlike), ("gangs of two", _gangs)):
        worlds = [_world([*_large_gang(), *crowd(number)]) for number in WAITING]
        _compare(report, f"{what}, behind a gang", WAITING, worlds, "q0", ALL_TOO_LONG)
    worlds = [_world(_alike(100), queues=number) for number in QUEUES]
    _compare(report, "queues", QUEUES, worlds, "q0")
    lent = [_freed_for_all(number) for number in QUEUES]
    report(median(f"lent card, {QUEUES[-1]:,} queues wait for it: one freed", lent[-1], "us"))
    ratios = [b / a * QUEUES[0] / QUEUES[-1] for a, b in zip(lent[0], lent[-1], strict=True)]
    report(median("lent card: one freed, for each queue, most against least", ratios, "", 3.0))


def _freed_for_all(queues: int) -> list[float]:
    """Microseconds for each card that becomes free, which one of these queues gets (L2): all of
    them are judged again, in as many turns.
    """
    nodes = a_node("h").with_cards(H200, ROUNDS * queues)
    things: list[Body] = [nodes, a_queue("owner").with_quota({H200: 1}).lending({H200: 0})]
    for number in range(queues):
        things.append(a_queue(f"q{number}").with_quota({H200: QUOTA}).deserving_cards({H200: 0}))
        things.append(a_pod(f"p{number}").in_queue(f"q{number}").naming(H200).asking_for(1).gated())
    held = a_pod("held").in_queue("owner").naming(H200)
    ledger = a_ledger(*things)
    spent = []
    for turn in range(ROUNDS):
        amount = ROUNDS * queues - turn
        see(ledger, held.stamped("owner", {H200: amount}).at_revision(turn + 2))
        begun = time.perf_counter()
        given = _decide(ledger, None)
        if turn:
            spent.append((time.perf_counter() - begun) * 1e6)
        if given != bool(turn):
            raise RuntimeError(f"one card freed, {given} given out, of a lent card")
    return spent


def _compare(
    report: Report,
    what: str,
    sizes: tuple[int, ...],
    worlds: list[Ledger],
    queue: str,
    starvation: Starvation | None = None,
) -> None:
    idle: list[list[float]] = [[] for _ in worlds]
    freed: list[list[float]] = [[] for _ in worlds]
    for ledger in worlds:
        _decide(ledger, starvation)
    for turn in range(ROUNDS):
        for number, ledger in enumerate(worlds):
            ledger.dirty.pending.add(queue)
            idle[number].append(_timed(ledger, starvation))
            freed[number].append(_release(ledger, queue, turn, starvation))
    least, most = sizes[0], sizes[-1]
    report(median(f"{what}: nothing free, {most:,}", idle[-1], "us"))
    report(median(f"{what}: two cards freed, {most:,}", freed[-1], "us"))
    ratios = [b / a for a, b in zip(freed[0], freed[-1], strict=True)]
    report(median(f"{what}: two cards freed, {most:,} against {least:,}", ratios, "", 3.0))


def _release(ledger: Ledger, queue: str, turn: int, starvation: Starvation | None) -> float:
    """Microseconds for each time that two cards become free. Both are given out each time, or none
    behind who has waited too long: a figure of decisions that let nobody through would say nothing.
    """
    spent = 0.0
    for step in range(FREED // 2):
        held = QUOTA - 2 * (turn * FREED // 2 + step + 1)
        see(ledger, _holder(queue, H200, held).at_revision(10 + turn * FREED + step))
        begun = time.perf_counter()
        given = _decide(ledger, starvation)
        spent += time.perf_counter() - begun
        if given != (0 if starvation else 2):
            raise RuntimeError(f"two cards freed, {given} given out, in {queue}")
    return spent * 1e6 / (FREED // 2)


def _timed(ledger: Ledger, starvation: Starvation | None) -> float:
    begun = time.perf_counter()
    given = _decide(ledger, starvation)
    spent = (time.perf_counter() - begun) * 1e6
    if given:
        raise RuntimeError(f"nothing was free, and {given} cards were given out")
    return spent


def _decide(ledger: Ledger, starvation: Starvation | None) -> int:
    """As the releaser does, without the patches. How many cards were given out."""
    given = 0
    for queue in queue_order(ledger, ledger.dirty.pending.take()):
        for found in openings(ledger, queue, starvation):
            if isinstance(found, Refusal):
                continue
            if found.gang is not None:
                charge = ledger.decisions.reserve if found.pods else ledger.decisions.enqueue
                charge(found.gang.key, found.queue, "term", found.asked)
                given += sum(n for name, n in found.asked if is_card(name)) if not found.pods else 0
            for record, cards in found.pods:
                given += sum(n for _, n in cards)
                ledger.decisions.assume(record.facts.uid, Stamp(found.queue, cards, "term"))
    ledger.dirty.pending.take()
    return given


def _world(waiting: list[Body], *, queues: int = 1) -> Ledger:
    """Full queues; in the first of them somebody waits."""
    things: list[Body] = [*CARDS]
    for number in range(queues):
        name = f"q{number}"
        others = dict.fromkeys(OTHERS, 0) if number == 0 else {}
        things.append(a_queue(name).with_quota({H200: QUOTA, H800: QUOTA, **others}))
        things += [_holder(name, H200, QUOTA), _holder(name, H800, QUOTA)]
    return a_ledger(*things, *waiting)


def _holder(queue: str, card: str, amount: int) -> PodBody:
    """On a node of its card: else it is charged for that node's (E3)."""
    pod = a_pod(f"{queue}-{card}").in_queue(queue).naming(card).asking_for(amount)
    return pod.stamped(queue, {card: amount}).on_node("h200-a" if card == H200 else "h800-a")


def _gated(name: str) -> PodBody:
    return a_pod(name).in_queue("q0").naming(H200).asking_for(1).gated()


def _alike(number: int) -> list[Body]:
    # More than will ever be released, so that somebody waits in every round.
    return [_gated(f"p{n}") for n in range(number + ROUNDS * FREED)]


def _unlike(number: int) -> list[Body]:
    return [_gated(f"p{n}").with_cpu(f"{n}m") for n in range(number + ROUNDS * FREED)]


def _large_gang() -> list[Body]:
    """It comes first, and never starts while the benchmark runs."""
    members = (_gated(f"a{n}").naming(H200).in_group("a").asking_for(QUOTA // 2) for n in range(2))
    return [a_group("a").in_queue("q0").of(2), *members]


def _gangs(number: int) -> list[Body]:
    """Every other one has a choice of cards."""
    found: list[Body] = []
    for gang in range((number + ROUNDS * FREED) // 2):
        found.append(a_group(f"g{gang}").in_queue("q0").of(2))
        card = f"{H200}|{H800}" if gang % 2 else H200
        members = (_gated(f"g{gang}-{half}").in_group(f"g{gang}") for half in "ab")
        found += [member.naming(card) for member in members]
    return found


def _asking(number: int) -> list[Body]:
    """Groups without pods, of which every twentieth waits for the card that becomes free."""
    cards = (H200, H800, *OTHERS)
    there = [a_group(f"a{n}").in_queue("q0").of(2).asking({H200: 1}) for n in range(ROUNDS * FREED)]
    others = (
        a_group(f"g{n}").in_queue("q0").of(2).asking({cards[n % 20]: 2 + n % 3})
        for n in range(number)
    )
    return [*there, *others]
