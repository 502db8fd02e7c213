"""PodGroups that are written: why one is refused, and what a change of it means."""

from .. import vocabulary as v
from ..words import logged, show

CardResource = tuple[str, str]
"""A card, and the resource name behind it."""


def group_elsewhere(group: str) -> str:
    """The annotation names a group as if it were in another namespace."""
    return (
        f"annotation {v.GROUP_NAME} <{show(group)}> is not the name of a pod group: write the name "
        "alone, of a group in the pod's own namespace"
    )


def request_unreadable(problem: str) -> str:
    """What a pod group says that it will ask for cannot be read (P8)."""
    return f"{problem}; correct it, or leave it out"


def mixed_resources(one: CardResource, other: CardResource) -> str:
    """A pod group asks for cards of different resource names (P2). Both: a card, and its resource
    name, empty where that is not known.
    """
    (card, resource), (second, behind) = one, other
    return (
        f"mixed resource types: <{show(card)}>{_counted_as(resource)} and <{show(second)}>"
        f"{_counted_as(behind)} are counted by different resource names; ask for cards of one "
        "resource name, and create another PodGroup for the others"
    )


def _counted_as(resource: str) -> str:
    return f" ({show(resource)})" if resource else ""


def group_refused(group: str, problem: str) -> str:
    """A pod group that is written has a minimum that means nothing. `problem`: one of the next."""
    return f"pod group <{logged(group)}>: {problem}"


def minimum_too_small(minimum: int) -> str:
    """`spec.minMember` is zero or negative."""
    return (
        f"spec.minMember is <{minimum}>, at least <1> is needed; "
        "write how many pods must start together, or leave it out"
    )


def priority_class_not_counted(name: str) -> str:
    """A group names a class that counts for no group (E6)."""
    return (
        f"spec.priorityClassName <{show(name)}> does not count for a PodGroup: name it in its pods"
    )


def task_minimum_negative(task: str, minimum: int) -> str:
    """A value of `spec.minTaskMember` is negative."""
    return (
        f"spec.minTaskMember of task <{show(task)}> is <{minimum}>, it cannot be negative; "
        "write how many pods of the task must start, or leave it out"
    )


def task_minimums_too_large(together: int, minimum: int) -> str:
    """The values of `spec.minTaskMember` are more than `spec.minMember` together."""
    return (
        f"the values of spec.minTaskMember add up to <{together}>, more than spec.minMember "
        f"<{minimum}>; raise spec.minMember, or lower spec.minTaskMember"
    )


def minimum_disagrees(resource: str, in_resources: int, in_request: int) -> str:
    """Warning: `spec.minResources` and `card.request` ask for different numbers. Short."""
    return (
        f"spec.minResources has <{in_resources}> {show(resource, most=40)}, but {v.REQUEST} "
        f"<{in_request}>, which counts"
    )


def minimum_never_fits(queue: str, resource: str, asked: int, quota: int) -> str:
    """Warning: `spec.minResources` has more of a resource than the quotas of all its cards
    together, so the group cannot start with it (E5). Short.
    """
    named = f"Queue <{show(queue, most=30)}>"
    return (
        f"spec.minResources has <{asked}> {show(resource, most=40)}: {named} has quota for "
        f"<{quota}>; ask for less, or ask its owner"
    )


def gang_never_starts(
    group: str, queue: str, minimum: int, most: int, *, workload: str = ""
) -> str:
    """Warning: these pods of a gang can never start it, if no others come that ask for less. Short.
    `most`: the largest minimum that the whole quota is enough for. `workload`: what makes the pods,
    where that is written.
    """
    named = f"<{show(group, most=40)}>"
    head = f"{named} cannot start with its pods"
    if workload:
        head = f"{show(workload, most=20)}: its pods alone cannot start pod group {named}"
    advice = f"lower minMember to {most}, or ask its owner" if most else "ask its owner for more"
    return f"{head}: Queue <{show(queue, most=30)}> has quota for <{most}> of <{minimum}>; {advice}"


def group_moved(queue: str) -> str:
    """Warning: a group that runs gets another queue (E10). Short."""
    return (
        "its pods that were released stay charged where they are; those at the gate go to "
        f"Queue <{show(queue, most=20)}>"
    )


def group_reservation_ends(queue: str) -> str:
    """Warning: a group with a reservation gets another queue (T2). Short."""
    return f"what is still reserved for it in Queue <{show(queue, most=40)}> is given back"


def group_goes_on(released: int, missing: int) -> str:
    """Warning: a group that runs gets another queue or `minMember`. `missing`: how many pods start
    together next; 0: they start one by one. Short.
    """
    rest = f"only when <{missing}> can together" if missing else "one by one"
    return (
        f"<{released}> of its pods were released and stay; nothing more is reserved, and the "
        f"others start {rest}"
    )
