"""A queue at whose gate pods and gangs wait, and what a pass over it opens and tells."""

from typing import Any

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import Stamp
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Refusal, Starvation
from cardquota.quota.release.cycle import openings

QUEUE = a_queue("red").with_quota({H200: 3, H800: 3})
FIVE = QUEUE.with_quota({H200: 5})
GANG = a_group().in_queue("red").of(2)


def a_cluster(*things: Body, **settings: Any) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things, **settings)


def waiting(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return a_pod(name).in_queue("red").naming(card).asking_for(cards).gated()


def release(
    ledger: Ledger, queue: str = "red", starvation: Starvation | None = None
) -> tuple[list[list[str]], list[Refusal]]:
    """Charge all that may be opened, as the gate releaser does: the names, and who waits on. Of a
    group that is enqueued the key.

    Reservations are written at once.
    """
    opened, refusals = [], []
    for found in openings(ledger, queue, starvation):
        if isinstance(found, Refusal):
            refusals.append(found)
            continue
        if found.gang is not None:
            key, decisions = found.gang.key, ledger.decisions
            charge = decisions.reserve if found.pods else decisions.enqueue
            reservation = charge(key, found.queue, "t", found.asked)
            ledger.decisions.confirm_reservation(key, reservation, 1)
            if not found.pods:
                opened.append([key])
                continue
        for record, cards in found.pods:
            ledger.decisions.assume(record.facts.uid, Stamp(found.queue, cards, "t"))
        opened.append([record.facts.name for record, _ in found.pods])
    return opened, refusals


def retract(ledger: Ledger, name: str, *, back_off: bool = False) -> None:
    """The gate of a pod that was charged was not opened."""
    stamp = ledger.pods[f"uid-{name}"].assumed
    assert stamp is not None
    ledger.decisions.retract(f"uid-{name}", stamp, back_off=back_off)


def names(refusals: list[Refusal]) -> list[list[str]]:
    return [[record.facts.name for record in refusal.pods] for refusal in refusals]


def member(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return waiting(name, cards, card).in_group("gang")


def runs(name: str, cards: int = 2) -> PodBody:
    return member(name, cards).stamped("red", {H200: cards}).on_node("h200-a")


def later(pod: PodBody) -> PodBody:
    return pod.created("2026-02-01T00:00:00Z")


def two_gangs_alike() -> list[Body]:
    found: list[Body] = []
    for gang in ("g1", "g2"):
        found.append(a_group(gang).in_queue("red").of(2))
        found += [waiting(f"{gang}-{half}").in_group(gang) for half in "ab"]
    return found


def cards_of(ledger: Ledger, *pods: str) -> list[dict[str, int]]:
    """What pods whose gates were opened are charged."""
    stamps = (ledger.pods[f"uid-{name}"].assumed for name in pods)
    return [dict(stamp.cards) if stamp else {} for stamp in stamps]
