"""Queues that take nothing of a pod or a group: missing, closed, or not open to it."""

from collections.abc import Sequence
from typing import Final

from .. import vocabulary as v
from ..verdict import Growth
from ..words import amount_texts, first_of, show
from .phrases import Asked, asked_text, did_you_mean, requested_text
from .request_messages import invalid_request

_LONGEST_OF_TWO: Final = 40
"""Characters of each of two names in a Warning."""
_LONGEST_MEANT: Final = 50
"""Characters of a name that fit into a Warning as well."""


def queue_not_found(
    queue: str, asked: Asked = (), *, meant: str = "", group: str | None = None
) -> str:
    """The queue does not exist. `meant`: the queue that was probably meant. `group`: the name of
    the pod group that names it; empty: the group itself asks; None: the pod names it.
    """
    where = f"the annotation {v.QUEUE_NAME}" if group is None else "spec.queue"
    where += f" of pod group <{show(group)}>" if group else ""
    return (
        f"Queue <{show(queue)}> does not exist{requested_text(asked, of_group=group == '')}; "
        f"name one that does (`kubectl get queues`) in {where}, or ask for it to be created"
        f"{did_you_mean(meant)}"
    )


def queue_not_seen(queue: str) -> str:
    """The queue exists, but its quota has not been read yet. Also a Warning: short."""
    return f"Queue <{show(queue)}> is new: the pod waits at its gate until cardquota has read it"


def queue_not_open(queue: str, state: str, asked: Asked = (), *, of_group: bool = False) -> str:
    """The queue takes nothing new (Q6)."""
    return (
        f"Queue <{show(queue)}> is {state} and takes nothing new"
        f"{requested_text(asked, of_group=of_group)}; "
        "use another queue, or ask its owner to open it"
    )


def namespace_not_admitted(
    queue: str, namespace: str, asked: Asked = (), *, of_group: bool = False
) -> str:
    """The queue is not open to this namespace."""
    return (
        f"Queue <{show(queue)}> is not open to namespace <{show(namespace)}>"
        f"{requested_text(asked, of_group=of_group)}; "
        "use a queue of your own, or ask its owner to add the namespace to the annotation "
        f"{v.NAMESPACES}"
    )


def closed_to_growth(queue: str, state: str, grown: Sequence[Growth]) -> str:
    """An existing pod is to get more, in a queue that takes nothing new (Q6)."""
    return _no_growth(queue, f"is {state}", grown, "ask the queue's owner to open it")


def gone_for_growth(queue: str, grown: Sequence[Growth]) -> str:
    """The same if the queue is gone: running pods stay charged to its name."""
    return _no_growth(queue, "does not exist", grown, "ask for the queue to be created again")


def no_growth_admitted(queue: str, namespace: str, grown: Sequence[Growth]) -> str:
    """The same if the queue no longer admits the namespace."""
    return _no_growth(
        queue,
        f"is not open to namespace <{show(namespace)}>",
        grown,
        f"ask the queue's owner to add the namespace to the annotation {v.NAMESPACES}",
    )


def _no_growth(queue: str, why: str, grown: Sequence[Growth], ask: str) -> str:
    """Its queue is fixed by then: no advice to name another one could be followed."""
    amounts = []
    for dimension, before, after in grown:
        had, asked = amount_texts(dimension, before, after)
        amounts.append(f"{dimension} from <{had}> to <{asked}>")
    return (
        f"Queue <{show(queue)}> {why}, so the pod cannot get more: {', '.join(amounts)}; "
        f"ask for no more than the pod has, {ask}, or create the pod again in another queue"
    )


def memory_without_queue(namespace: str) -> str:
    """A pod asks for card memory and has no queue (B9)."""
    return (
        f"the pod requests {v.GPU_MEMORY} and has no queue: name one whose quota has card memory, "
        f"in the annotation {v.QUEUE_NAME} of the pod or of namespace <{show(namespace)}>"
    )


def no_queue(namespace: str, asked: Asked = (), *, everywhere: bool = False) -> str:
    """A pod asks for cards without a queue where one is required: by the namespace's label, or
    everywhere by the configuration.
    """
    who = "the configuration" if everywhere else f"namespace <{show(namespace)}>"
    return (
        f"the pod requests {asked_text(asked) or 'cards'} but names no queue, and "
        f"{who} requires one; add the annotation {v.QUEUE_NAME} to the pod or to the "
        "namespace"
    )


def queue_not_named(queue: str, asked: Asked) -> str:
    """A pod gets its queue from elsewhere, and asks for a card by a resource name of no vendor row:
    a policy that sets the gate cannot see that this pod needs it.
    """
    text = (
        "no vendor row has this resource, so the policy that sets the gate recognises such a pod "
        f"only by its own annotations: name the queue in the annotation {v.QUEUE_NAME} of the pod, "
        "or ask an administrator for a row in `vendors`"
    )
    return invalid_request(queue, asked, text)


def card_without_queue(card: str) -> str:
    """Warning: a card is named, but no quota applies. Short."""
    return (
        f"card <{_named(card)}> is ignored without a queue: any model its node selector allows; "
        f"add {v.QUEUE_NAME}"
    )


def card_in_audit(card: str) -> str:
    """Warning: a card is named where nothing is enforced. Short."""
    return (
        f"audit: card <{_named(card)}> is ignored: the pod may get any model its node selector "
        "allows, and that one counts"
    )


def _named(card: str) -> str:
    """A card, or alternatives as written, short: two, then a count."""
    return first_of([show(one, most=_LONGEST_OF_TWO) for one in card.split("|")], "|", most=2)


def queue_disagrees(group: str, theirs: str, own: str, asked: Asked = ()) -> str:
    """The pod and its group name two queues."""
    return (
        f"pod group <{show(group)}> belongs to queue <{show(theirs)}>, but the pod's annotation "
        f"names queue <{show(own)}>{requested_text(asked)}; remove the pod's annotation, or "
        "change one of the two"
    )


def group_not_seen(group: str, meant: str = "") -> str:
    """The pod waits for its group. Also a Warning: short. `meant`: the group of its namespace that
    was probably meant.
    """
    probably = f"did you mean <{show(meant)}>?" if 0 < len(meant) <= _LONGEST_MEANT else ""
    return (
        f"pod group <{show(group)}> does not exist (yet): the pod waits; "
        f"create it, or {probably or f'correct {v.GROUP_NAME}'}"
    )


def namespace_not_seen(namespace: str) -> str:
    """The rules of a namespace that was just created are not known yet; clients retry."""
    return f"cardquota has not seen namespace <{show(namespace)}> yet; try again in a second"


def runs_without_quota() -> str:
    """Warning: a pod with cards names no queue, and Volcano schedules it (V5). Short."""
    return (
        f"no queue: Volcano runs it in <{v.DEFAULT_QUEUE}>, and no quota counts it; "
        f"add {v.QUEUE_NAME}"
    )
