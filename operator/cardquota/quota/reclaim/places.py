"""Where plans are being carried out, and who may get another one meanwhile (L5)."""

from collections import Counter
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from ..ledger.ledger_reader import KeptRoom, LedgerReader
from .plan import Beneficiary, Plan, ReclaimWay
from .planner import Result
from .progress import room_of, waiting_one

MOST_AT_ONCE: Final = 3
"""Plans between queues for a queue and card at a time: if nobody can start, all are in vain."""

Place = tuple[str, str]
"""A card, and the queue that gives it to itself; an empty queue: between queues."""


class StandingPlan(NamedTuple):
    """A plan that is carried out, as far as it concerns others."""

    room: KeptRoom
    queue: str
    """Of who waits."""
    all_end: bool
    """Whether nobody is still to be asked to end."""


class TakenPlaces:
    """Of all plans that are carried out."""

    def __init__(self, plans: Collection[StandingPlan] = ()) -> None:
        between = [plan for plan in plans if not plan.room.queue]
        self.places: AbstractSet[Place] = {place for one in plans for place in one.room.places}
        """All of them."""
        self._asking = {place for one in between if not one.all_end for place in one.room.places}
        """Those of plans between queues of which somebody is still to be asked: the next plan for
        the card would not know how these turn out."""
        self._of_queue = Counter((one.queue, card) for one in between for card in one.room.cards)
        """By queue of who waits, and card: plans between queues."""

    def bar(self, one: Beneficiary, places: Collection[Place] | None = None) -> bool:
        """Whether no plan may be made for it now. `places`: what is kept for it; None: for the one
        card that it lacks.
        """
        places = one.places if places is None else places
        if one.way is ReclaimWay.PREEMPT:
            return not self.places.isdisjoint(places)
        numbers = (self._of_queue[one.queue, card] for card, _ in places)
        return not self._asking.isdisjoint(places) or max(numbers) >= MOST_AT_ONCE


def served_by_plans(ledger: LedgerReader) -> dict[str, Beneficiary]:
    """For whom plans are carried out, by what is stored, by key: the room that comes is for these
    first.
    """
    waiting = {
        key: waiting_one(ledger, key, plan.card)
        for key, plan in ledger.plans.items()
        if not plan.gave_up
    }
    return {key: one for key, one in waiting.items() if one is not None}


def taken_places(ledger: LedgerReader) -> TakenPlaces:
    """By what is stored."""
    found = list[StandingPlan]()
    for key, one in served_by_plans(ledger).items():
        plan = ledger.plans[key]
        all_end = all(ends(ledger, uid) for uid in plan.victims)
        found.append(StandingPlan(room_of(ledger, plan, one), one.queue, all_end))
    return TakenPlaces(found)


def uncertain_cards(ledger: LedgerReader, results: Iterable[Result]) -> set[str]:
    """Cards of which nobody knows what will be free: somebody for whom pods of other queues end
    would need others to end by now, as whoever ends for it does not go, or others have its room. So
    no other plan is made for these. `results`: of a round with all of those.
    """
    found = set[str]()
    for result in results:
        plan = ledger.plans.get(result.beneficiary.key)
        if plan is None or plan.gave_up or plan.way != ReclaimWay.RECLAIM:
            continue
        if isinstance(result, Plan) and any(v.uid not in plan.victims for v in result.victims):
            found |= result.cards
    return found


def ends(ledger: LedgerReader, uid: str) -> bool:
    """Whether a pod is gone, or is being deleted."""
    record = ledger.pods.get(uid)
    return record is None or record.facts.terminating
