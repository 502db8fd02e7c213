"""What waits at the gate although there is room for it, by the recount."""

from .recount import Group, Recount, StoredPod


def fitting(recount: Recount, queue: str) -> list[str]:
    """Pods and gangs of a queue that could be let through now."""
    found = []
    room = {card: recount.room((queue, card)) for card in recount.quota.get(queue, ())}
    gangs: dict[str, list[StoredPod]] = {}
    for pod in recount.waiting(queue):
        group = recount.groups.get(pod.group)
        if pod.group and group is None:
            continue  # its group is not there: nobody knows how many it needs
        if group is not None and missing(recount, group) > 0 and group.reserved_in != group.queue:
            gangs.setdefault(group.key, []).append(pod)
        elif not pod.amount or any(
            room.get(card, 0) + _own(recount, group, queue, card) >= pod.amount
            for card in pod.cards
        ):
            found.append(pod.key)
    for key, pods in gangs.items():
        need = missing(recount, recount.groups[key])
        # Which of them go first is not said here: so the largest, and they name one card at most.
        first = sorted((pod.amount for pod in pods), reverse=True)[:need]
        card = next((card for pod in pods for card in pod.cards), "")
        if len(first) == need and sum(first) <= room.get(card, 0):
            found.append(key)
    return found


def missing(recount: Recount, group: Group) -> int:
    """How many members of a gang must still be let through for its minimum; 0: it is none."""
    return max(0, group.minimum - recount.started(group.key)) if group.minimum > 1 else 0


def _own(recount: Recount, group: Group | None, queue: str, card: str) -> int:
    """What its own group still reserves is not in its way."""
    if group is None or (queue, card) not in group.reserved:
        return 0
    return max(0, group.reserved[queue, card] - recount.held_by(group.key, (queue, card)))
