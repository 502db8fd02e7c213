"""What waits at the gate, or to be enqueued, although there is room for it, by the recount."""

from collections.abc import Iterable
from itertools import product

from ..clients.objects import LENDING_QUEUES
from .recount import Free, Recount, fits, room_of
from .stored import NAME, QUEUE, Asks, Group, Object, StoredPod


def fitting(recount: Recount, queue: str) -> list[str]:
    """Of a queue: pods and gangs that could be released now, groups that could be enqueued.

    Of queues that lend to each other nothing is said: within its quota one may lack what is not
    there (L2), and a card is kept for whom it is taken back for (L5).
    """
    return [] if queue in LENDING_QUEUES else _fitting(recount, queue)


def _fitting(recount: Recount, queue: str) -> list[str]:
    found = []
    gangs: dict[str, list[StoredPod]] = {}
    rooms: dict[str, Free] = {}

    def free_for(group: Group | None) -> Free:
        """What its own group still reserves is not in its way."""
        key = group.key if group is not None and group.reserved_in else ""
        if key not in rooms:
            rooms[key] = recount.free(queue, without=key)
        return rooms[key]

    # Who is being deleted goes, at the latest by the garbage collector: nobody lets it through.
    for pod in (one for one in recount.waiting(queue) if not one.deleted):
        group = recount.groups.get(pod.group)
        if pod.group and group is None:
            continue  # its group is not there: nobody knows how many it needs
        if group is not None and missing(recount, group) > 0 and not _goes_on(recount, group):
            gangs.setdefault(group.key, []).append(pod)
        elif not pod.amount or any(
            room_of(card, free_for(group)) >= pod.amount for card in pod.cards
        ):
            found.append(pod.key)
    for key, pods in gangs.items():
        gang = recount.groups[key]
        need = missing(recount, gang)
        # Which of them go first is not said here: so the largest.
        first = sorted(pods, key=lambda pod: -pod.amount)[:need]
        if len(first) == need and _has_room(recount, free_for(gang), _one_card_each(first)):
            found.append(key)
    beside: Free = {}
    for group in recount.groups.values():
        if group.queue == queue and asks(recount, group):
            beside = beside or recount.free(queue, elastic=recount.elastic(queue))
            if all(_has_room(recount, beside, asked) for asked in _may_ask(recount, group)):
                found.append(f"{group.key}, to be enqueued,")
    return found


def _has_room(recount: Recount, free: Free, asks: Asks) -> bool:
    """Whether there is room for all members. Beside Volcano those that ask for the same wait for
    one card (V7); where none has such a quota they need not, and nothing is said of that.
    """
    if not recount.volcano:
        return fits(free, asks)
    for cards in product(*asks):
        one_each: Asks = {}
        for card, number in zip(cards, asks.values(), strict=True):
            one_each[(card,)] = one_each.get((card,), 0) + number
        if fits(free, one_each):
            return True
    return False


def _may_ask(recount: Recount, group: Group) -> list[Asks]:
    """What it asks for; or, where only its Job names the card, what that may be: one of its
    queue's.
    """
    if group.asks:
        return [group.asks]
    return [{(card,): n} for cards, n in recount.asks_of(group).items() for card in cards]


def missing(recount: Recount, group: Group) -> int:
    """How many members of a gang must still be released for its minimum; 0: it is none."""
    return max(0, group.minimum - recount.started(group.key)) if group.minimum > 1 else 0


def asks(recount: Recount, group: Group) -> bool:
    """Whether a group is to be enqueued: nothing of it has begun, and pods of it are still to come.

    Of one that has lost its place, that is so only once a pod of it is there. Volcano asks again
    and again about each that it has not enqueued, and about no other (V3).
    """
    there, asked = recount.there(group.key), recount.asks_of(group)
    if not asked or group.reserved_in or group.completed or there >= max(1, group.minimum):
        return False
    if recount.started(group.key):
        return False
    return group.waits if recount.volcano else there > 0 or not group.lost


def may_stay(recount: Recount, group: Group) -> bool:
    """Whether a group may be enqueued for ever: some of its pods are there, or all of them, which
    wait for what is elastic, or for a quota that is lower by now.
    """
    there = recount.there(group.key)
    if not group.enqueued or not there:
        return False
    queue = group.reserved_in
    over = (recount.room((queue, card)) < 0 for card in recount.quota.get(queue, ()))
    return there < max(1, group.minimum) or any(over)


def _goes_on(recount: Recount, group: Group) -> bool:
    """Whether its members go one by one since it was started. If all that were released are
    gone, those that wait start whole (E2).
    """
    reserved = group.reserved_in == group.queue and not group.enqueued
    return reserved and recount.started(group.key) > 0


def _one_card_each(pods: list[StoredPod]) -> Asks:
    """What they ask for. Where one has a choice and wants several cards of it, it counts with the
    first: it may fit all the same, and nothing is said of that.
    """
    found: Asks = {}
    for pod in pods:
        cards = pod.cards if pod.amount == 1 else pod.cards[:1]
        if pod.amount:
            found[cards] = found.get(cards, 0) + pod.amount
    return found


def asleep(recount: Recount, replica_sets: Iterable[Object]) -> list[str]:
    """ReplicaSets whose next pod would fit its queue now, in words. Those that ask for one card."""
    found = []
    for thing in replica_sets:
        spec, status = thing["spec"], thing.get("status") or {}
        notes = spec["template"]["metadata"].get("annotations") or {}
        queue, card = notes.get(QUEUE, ""), notes.get(NAME, "")
        lacks = int(spec.get("replicas") or 0) - int(status.get("replicas") or 0)
        if lacks > 0 and recount.quota.get(queue, {}).get(card) and recount.room((queue, card)) > 0:
            name = thing["metadata"]["name"]
            found.append(f"{name} lacks {lacks} pods in {queue}, and one would fit")
    return found
