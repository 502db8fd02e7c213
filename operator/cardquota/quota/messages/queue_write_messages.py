"""Queues that are written or deleted: why that is refused."""

from collections.abc import Sequence
from typing import Final

from .. import vocabulary as v
from ..words import counted, listed, show
from .phrases import did_you_mean

_LONGEST_USER: Final = 128
"""Characters of a namespace and a name: twice what most names may have."""


def row_impossible(card: str, meant: str = "") -> str:
    """Warning when a queue is written: the row can never be used. `meant`: the card that was
    probably meant. Short.
    """
    return (
        f"no node can have card <{show(card, most=60)}>: correct it (`kubectl cardquota cards` "
        f"lists all){did_you_mean(meant)}"
    )


def row_of_no_node(card: str, meant: str = "") -> str:
    """Warning when a queue is written: a row that is new, or has another amount, is of a card that
    no node has (P4). `meant`: the card that was probably meant. Short.
    """
    return f"no node has card <{show(card)}>{did_you_mean(meant)}"


def row_above_cluster(card: str, quota: int, total: int) -> str:
    """Warning when a queue is written: the row alone is more than all nodes have (Q3). Short."""
    return f"quota <{quota}> of <{show(card)}> is more than the cluster has: <{total}>"


def row_below_use(card: str, quota: int, allocated: int, inqueue: int) -> str:
    """Warning when a queue is written: a row is lowered below what is in use, or taken out, which
    is a quota of 0 (Q7). Short.
    """
    number = allocated + inqueue
    until = f" until use is below {quota}" if quota else ""
    return (
        f"<{show(card)}>: {number} {'is' if number == 1 else 'are'} in use ({allocated} allocated, "
        f"{inqueue} inqueue); nothing is evicted, nothing new starts{until}"
    )


def more_rows(number: int) -> str:
    """Warning when a queue is written: how many rows are left out of the Warnings before it."""
    return f"{counted(number, 'more row')} of {v.QUOTA} may be wrong, for one of these reasons"


def no_effect(key: str, meant: str = "", *, what: str = "annotation") -> str:
    """Warning: an annotation, or a label (`what`), looks like one of ours and is none. `meant`: the
    key that was probably meant. Short.
    """
    probably = f"; did you mean {show(meant)}?" if meant else ""
    return f"{show(what)} <{show(key)}> has no effect{probably}"


def queue_in_use(queue: str, pods: int, groups: int, users: Sequence[str], more: int) -> str:
    """A queue that is used cannot be deleted (Q8). `users`: workloads and pod groups, as
    `namespace/name`; `more`: how many others there are.
    """
    number = f"{counted(pods, 'pod')} and {counted(groups, 'pod group')}"
    names = ", ".join(show(name, most=_LONGEST_USER) for name in users)
    rest = f" and {more} more" if more else ""
    return (
        f"Queue <{show(queue)}> is in use by {number} ({names}{rest}); "
        f"close it ({v.QUEUE_STATE}: {v.QueueState.CLOSED}) and delete it when they are gone"
    )


def queue_refused(queue: str, problem: str) -> str:
    """A queue that is written cannot be accepted (Q4, Q5, Q8)."""
    return f"Queue <{show(queue)}>: {problem}"


def quota_refused(problem: str) -> str:
    """The quota that is written cannot be read (Q4)."""
    return (
        f"annotation {v.QUOTA} cannot be read: {problem}. "
        'Write a JSON object of whole numbers, such as {"NVIDIA-H200": 3}'
    )


def surge_refused(problem: str) -> str:
    """What rolling updates may borrow, as it is written, cannot be read (R6)."""
    return (
        f"annotation {v.SURGE} cannot be read: {problem}. "
        'Write a whole number of cards, or a JSON object such as {"NVIDIA-H200": 1}'
    )


def cards_refused(key: str, problem: str) -> str:
    """What a queue is owed, or lends, as it is written, cannot be read (L1, L2)."""
    return (
        f"annotation {key} cannot be read: {problem}. "
        'Write a JSON object of whole numbers, such as {"NVIDIA-H200": 1}'
    )


def owed_without_quota(key: str, card: str) -> str:
    """Warning when a queue is written: a row of a card without a quota means nothing (L1, L2).
    Short.
    """
    return f"{show(key)} names <{show(card)}>, but the queue has no quota of it: that has no effect"


def owed_above_quota(card: str, deserved: int, quota: int) -> str:
    """Warning when a queue is written: it is never owed more than its quota (L1). Short."""
    return (
        f"{v.DESERVED}: <{deserved}> of <{show(card)}> is more than the quota: it is owed <{quota}>"
    )


def owed_above_cluster(card: str, deserved: int, total: int) -> str:
    """Warning when a queue is written: with it, all queues are owed more by their own words than
    there is (L1). Short.
    """
    return (
        f"{v.DESERVED}: with it queues are owed <{deserved}> of <{show(card)}> together, more than "
        f"the cluster has: <{total}>"
    )


def surge_without_quota(card: str) -> str:
    """Warning when a queue is written: nothing is lent of a card without a quota. Short."""
    return f"{v.SURGE} names <{show(card)}>, but the queue has no quota of it: none is lent"


def open_to_nobody() -> str:
    """Warning when a queue is written that names no namespaces, where it must name them. Short."""
    return f"no namespace may use it (requireNamespaces): name them in {v.NAMESPACES}"


def guarantee_not_deserved(amounts: Sequence[tuple[str, str]]) -> str:
    """Warning beside Volcano, whose webhook refuses the queue (V2). By resource: the guarantee."""
    wanted = listed([f"{show(name)} {show(amount)}" for name, amount in amounts])
    return f"Volcano refuses a guarantee above spec.deserved: write spec.deserved, {wanted} or more"


def cards_ignored(where: Sequence[tuple[str, str]], *, has_quota: bool) -> str:
    """Warning when a queue is written: card resources in its specification are no quota (Q2). By
    field of the specification: the resource name. Short.
    """
    named = listed([f"spec.{field} <{show(resource)}>" for field, resource in where], most=3)
    if has_quota:
        return (
            f"{named}: not a card quota, {v.QUOTA} is; remove {'it' if len(where) == 1 else 'them'}"
        )
    return f"{named}: not a card quota, and the queue has none; write {v.QUOTA}"


def namespaces_refused() -> str:
    """The namespaces of a queue that is written cannot be read."""
    return (
        f"annotation {v.NAMESPACES} cannot be read. "
        'Write a JSON list of namespace names or patterns, such as ["team-a", "team-a-*"]'
    )


def not_one_of(key: str, value: str, allowed: Sequence[str]) -> str:
    """An annotation of a queue has a value that means nothing (Q6, Q8, L6)."""
    return f"annotation {key} is <{show(value)}>; write {' or '.join(allowed)}"


def parent_refused(parent: str) -> str:
    """Queues are flat (Q5)."""
    return (
        f"spec.parent is <{show(parent)}>, but queues are flat: a quota is not shared with a "
        f"parent. Leave spec.parent out or set it to {v.ROOT_QUEUE}"
    )


def weight_refused(weight: int, most: int) -> str:
    """A queue without weight would deserve nothing (W1)."""
    if weight > most:
        return f"spec.weight is {weight}, at most {most} is allowed"
    return f"spec.weight is {weight}, at least 1 is needed"


def amount_refused(field: str, problem: str) -> str:
    """An amount of cpu or memory in a queue cannot be counted."""
    return f"{field}: {problem}; write a quantity such as 4, 500m or 16Gi"


def card_amount_refused(field: str, problem: str) -> str:
    """What a queue is guaranteed of a card is no number of cards."""
    return f"{field}: {problem}; write a whole number of cards"


def amount_negative(field: str, amount: str) -> str:
    """An amount of cpu or memory in a queue is below nothing."""
    return f"{field} is {show(amount)}, it cannot be negative; write 0 for none, or leave it out"
