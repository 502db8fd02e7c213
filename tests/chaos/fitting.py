"""What waits at the gate although there is room for it, by the recount."""

from .recount import Group, Pod, Recount


def fitting(recount: Recount, queue: str) -> list[str]:
    """Pods and gangs of a queue that could be let through now."""
    found = []
    room = {card: recount.room((queue, card)) for card in recount.quota.get(queue, ())}
    gangs: dict[str, list[Pod]] = {}
    for pod in recount.waiting(queue):
        group = recount.groups.get(pod.group)
        if pod.group and group is None:
            continue  # its group is not there: nobody knows how many it needs
        if group is not None and missing(recount, group) > 0 and not group.reserved:
            gangs.setdefault(group.key, []).append(pod)
        elif any(room.get(card, 0) + _own(recount, group, queue, card) >= pod.amount
                 for card in pod.cards):  # fmt: skip
            found.append(pod.key)
    for key, pods in gangs.items():
        need = missing(recount, recount.groups[key])
        # Members of one gang are alike here, and name one card.
        if len(pods) >= need and sum(p.amount for p in pods[:need]) <= room.get(
            pods[0].cards[0], 0
        ):
            found.append(key)
    return found


def missing(recount: Recount, group: Group) -> int:
    """How many members of a gang must still be let through for its minimum; 0: it is none."""
    if group.minimum < 2:
        return 0
    members = recount.members[group.key].values()
    started = sum(1 for pod in members if not pod.gated and (pod.succeeded or not pod.finished))
    return max(0, group.minimum - started)


def _own(recount: Recount, group: Group | None, queue: str, card: str) -> int:
    """What its own group still reserves is not in its way."""
    if group is None or (queue, card) not in group.reserved:
        return 0
    held = sum(p.charge.get((queue, card), 0) for p in recount.members[group.key].values())
    return max(0, group.reserved[queue, card] - held)
