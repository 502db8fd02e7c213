"""Every sentence that people read, in one place (section 9, I4).

Amounts are whole cards, cores and Gi. A refusal names the queue, the card, the amounts and what to
do. Texts contain no number that changes from one try to the next, except those of the sentence.
"""

from collections.abc import Sequence
from typing import Final

from . import vocabulary as v
from .amounts import Amount, is_card
from .limits import Limit
from .stamp import allocated_text
from .verdict import Growth, Shortfall
from .words import MOST_LISTED, amount_text, amount_texts, counted, first_of, listed, logged, show

CardResource = tuple[str, str]
"""A card, and the resource name behind it."""
Asked = Sequence[tuple[str, int]]
"""What a pod asks for and how much, as far as that can be read: cards or their resources."""

_POD: Final = "the pod"
_GROUP: Final = "the group"
_MOST_OF_SELECTOR: Final = 400
"""Characters that are shown of a pod's selector: room for five terms of usual length."""


def insufficient(queue: str, short: Shortfall) -> str:
    """The sentence of section 9."""
    requested, would_be, capability = amount_texts(
        short.dimension, short.requested, short.would_be, short.capability
    )
    return (
        f"Queue <{show(queue)}> has insufficient <{show(short.dimension)}> quota: "
        f"requested <{requested}>, total would be <{would_be}>, but capability is <{capability}>"
    )


def shortfalls(queue: str, shorts: Sequence[Shortfall], advice: str = "") -> str:
    """The sentence for each card (at most five, then a count), for cpu and memory; what to do."""
    cards, others = _apart(shorts)
    sentences = [insufficient(queue, short) for short in cards[:MOST_LISTED]]
    if len(cards) > MOST_LISTED:
        sentences.append(f"and {counted(len(cards) - MOST_LISTED, 'more card')}")
    sentences += [insufficient(queue, short) for short in others]
    return "; ".join([*sentences, advice] if advice else sentences)


def advice_never(shorts: Sequence[Shortfall]) -> str:
    """What to do about a request that alone is over the quota: the most that it may ask for.

    Of alternatives, the one with most quota counts. If that is none, only the owner can help.
    """
    cards, others = _apart(shorts)
    most = [max(cards, key=lambda short: short.capability), *others] if cards else others
    if any(short.capability <= 0 for short in most):
        return "ask the queue's owner for a higher quota"
    amounts = [(short.dimension, amount_text(short.dimension, short.capability)) for short in most]
    if len(amounts) == 1:
        asked = amounts[0][1]
    else:
        asked = " and ".join(f"{amount} of <{show(what)}>" for what, amount in amounts)
    return f"ask for at most {asked}, or ask the queue's owner for a higher quota"


def _apart(shorts: Sequence[Shortfall]) -> tuple[list[Shortfall], list[Shortfall]]:
    """Cards, which are alternatives of each other, and cpu and memory, which are not."""
    cards = [short for short in shorts if is_card(short.dimension)]
    return cards, [short for short in shorts if not is_card(short.dimension)]


ADVICE_TOGETHER: Final = (
    "let fewer pods start together, or let them ask for less, or ask the queue's owner for a "
    "higher quota"
)
ADVICE_WAIT: Final = "wait until some of it is free, or ask the queue's owner for a higher quota"
ADVICE_RESIZE: Final = (
    "ask for less, try again when some of it is free, or ask the queue's owner for a higher quota"
)


def advice_not_in_quota(cards: Sequence[str]) -> str:
    """What to do about a card that has no row in the quota."""
    instead = "use one of those, or " if cards else ""
    return (
        f"the card is not in the queue's quota (its cards: {listed(cards)}); "
        f"{instead}ask the queue's owner for a quota of this card"
    )


def no_card_left(resource: str, rows: Sequence[str]) -> str:
    """No card is both selected and in the quota, for a pod that names none (P3)."""
    instead = f"name a card in {v.CARD_NAME}, or " if rows else ""
    return (
        f"no card counted as {show(resource)} is both allowed by the pod's node selector and "
        f"affinity and in the queue's quota (its cards: {listed(rows)}); "
        f"{instead}ask the queue's owner for a quota"
    )


def invalid_request(queue: str, asked: Asked, text: str, *, of_group: bool = False) -> str:
    """What is wrong with the request itself, regardless of room.

    `queue` is empty if it is not known.
    """
    amounts = _amounts(asked)
    if not queue:
        return f"{_GROUP if of_group else _POD} requests {amounts}: {text}" if amounts else text
    return f"Queue <{show(queue)}>{f', requested {amounts}' if amounts else ''}: {text}"


def _amounts(asked: Asked) -> str:
    return " and ".join(f"<{n}> of <{_choice(what)}>" for what, n in asked[:MOST_LISTED])


def _requested(asked: Asked, *, of_group: bool = False) -> str:
    """In brackets; empty if no cards are asked for."""
    who = _GROUP if of_group else _POD
    return f" ({who} requests {_amounts(asked)})" if asked else ""


def _choice(text: str) -> str:
    """A card, or alternatives as written: at most five, then a count."""
    return listed(text.split("|"), "|")


def unreadable(problem: str) -> str:
    """The pod's amounts or annotations cannot be read (P4)."""
    return f"{problem}; correct the pod's amounts or annotations"


def beyond_limit(limit: Limit, found: int, of: str = "the pod") -> str:
    """A pod or another object exceeds a limit (P8). Short: also part of a Warning."""
    if limit.sized:
        return f"{limit.what} is <{found}> bytes long, at most <{limit.most}> are read: write less"
    return f"{of} has <{found}> {limit.what}, at most <{limit.most}> are read: write fewer"


def too_much_waits(each: Limit, together: Limit) -> str:
    """The texts of a waiting pod are large, and so are those of many others (P8)."""
    return (
        f"the node selectors, affinities, tolerations, resource names and {v.CARD_NAME} of "
        f"{together.what} are more than <{together.most}> bytes together: write less than "
        f"<{each.most}> for this one, or create it again later"
    )


def node_beyond_limit(limit: Limit, found: int) -> str:
    """There is more of a node than is read: none of its cards is counted (P8, D9)."""
    return f"it has <{found}> {limit.what}, at most <{limit.most}> are read"


def queue_beyond_limit(limit: Limit, found: int) -> str:
    """There is more in an annotation of a queue than is read (P8)."""
    if limit.sized:
        return f"{limit.what} is <{found}> bytes long, at most <{limit.most}> are read: write less"
    return f"it has <{found}> {limit.what}, at most <{limit.most}> are read: write fewer"


def several_resources(resources: Sequence[str]) -> str:
    """The pod asks for more than one card resource (P2)."""
    names = listed(resources, " and ")
    return (
        f"the pod asks for {len(resources)} card resources ({names}), but one pod may "
        "use one card model only; split it into several pods"
    )


def card_unreadable(problem: str) -> str:
    """The alternatives of `card.name` cannot be read (P2)."""
    return (
        f"annotation {v.CARD_NAME} cannot be read: {problem}; "
        "write one card name, or several as A|B, best first"
    )


def no_card_asked(card: str) -> str:
    """A card is named, but none is asked for (P4)."""
    return (
        f"annotation {v.CARD_NAME} names <{_choice(card)}>, but no container asks for a "
        "card resource such as nvidia.com/gpu; add it to the limits or drop the annotation"
    )


def card_unknown(card: str, *, product_there: bool, where: str = v.CARD_NAME) -> str:
    """The card is on no node and in no quota, or its product is on nodes without it (P4)."""
    although = " although nodes have its product" if product_there else ""
    return (
        f"card <{show(card)}> is not known: no node offers it{although}; "
        f"correct {where} (`kubectl get queues` shows the cards with a quota)"
    )


def card_impossible(card: str, where: str = v.CARD_NAME) -> str:
    """The card has a quota, but no node can ever have a card of this name (P4)."""
    return (
        f"card <{show(card)}> can be on no node: a card is called as its node's label has it, with "
        "letters, digits, -, _ and . (`kubectl cardquota cards` lists all); "
        f"correct {show(where)} and the queue's quota"
    )


def row_impossible(card: str) -> str:
    """Warning when a queue is written: the row can never be used. Short."""
    return f"no node can have card <{show(card)}>: correct it (`kubectl cardquota cards` lists all)"


def gate_refused(answer: str) -> str:
    """The API server, or a webhook of others, refuses the opening of a gate."""
    return (
        f"the gate cannot be opened: {show(answer, most=300)}; it is tried again, ever less often: "
        "correct what is named there, or create the pod again"
    )


def gate_undecided(queue: str, held: Sequence[Amount], answer: str) -> str:
    """It is not known whether a gate will open, and the pod cannot be written to settle it."""
    return (
        f"the pod cannot be changed: {show(answer, most=300)}; an earlier try to open its gate was "
        f"not answered and may come yet, so Queue <{show(queue)}> holds for the pod: "
        f"{_held(held)}; it is tried again: correct what is named there, or change anything of the "
        "pod, which ends this try"
    )


def gang_refused(pod: str, answer: str) -> str:
    """A gang that starts whole: the opening of one of its pods' gates is refused."""
    return (
        f"the gate of pod <{show(pod)}> cannot be opened: {show(answer, most=300)}; so no pod of "
        "the group is started and nothing is held for it; it is tried again, ever less often: "
        "correct what is named there, or create that pod again"
    )


def gang_held_back(namespace: str, failures: int) -> str:
    """A gang with room: it has to wait because gates of its namespace do not open."""
    return (
        f"the last <{failures}> changes of pods of namespace <{show(namespace)}> were refused or "
        "not answered, so its groups start one at a time, with few changes at once; no pod of this "
        "group is started yet and nothing is held for it; it is tried again, ever less often: see "
        "the events of the pods of that namespace whose gates were not opened"
    )


def gang_in_part(pod: str, opened: int, minimum: int, seconds: float) -> str:
    """The opening of a gate is refused after other pods of the gang were let through."""
    return (
        f"the gate of pod <{show(pod)}> was not opened, though nobody had objected just before. "
        f"<{opened}> of the <{minimum}> pods that start together are let through; what is reserved "
        f"for the others is given back after <{seconds:g}> s. The events of that pod say why: "
        "correct it, or delete the group's pods"
    )


def _not_written(answer: str) -> str:
    return f"the PodGroup cannot be written: {show(answer, most=300)}"


def gang_not_reserved(answer: str) -> str:
    """A gang: writing its reservation on the PodGroup is refused."""
    return (
        f"{_not_written(answer)}; so no pod of the group is "
        "started and nothing is held for it; it is tried again, ever less often: correct what is "
        "named there"
    )


def group_not_enqueued(answer: str) -> str:
    """A group that is to be enqueued: writing its reservation on the PodGroup is refused."""
    return (
        f"{_not_written(answer)}; so nothing is reserved for it; "
        "it is tried again, ever less often: correct what is named there"
    )


def enqueued(queue: str, held: Sequence[Amount], seconds: float) -> str:
    """E1: what a group asks for is reserved, before its pods are there."""
    return (
        f"Queue <{show(queue)}> reserves for the group: {_held(held)}. Its pods start together "
        f"once they are there and that much is free; if they do not come within <{seconds:g}> s, "
        "the reservation ends"
    )


def gang_undecided(queue: str, held: Sequence[Amount], answer: str) -> str:
    """A gang: it is not known whether its reservation was written, and writing it again fails."""
    return (
        f"{_not_written(answer)}; an earlier try was not "
        f"answered and may come yet, so Queue <{show(queue)}> holds for the group: {_held(held)}, "
        "and no pod of it is started; it is tried again: correct what is named there, or change "
        "anything of the PodGroup, which ends this try"
    )


def _held(held: Sequence[Amount]) -> str:
    return ", ".join(f"<{show(d)}> <{amount_text(d, n)}>" for d, n in held) or "nothing"


def reservation_expired(
    queue: str, bound: int, minimum: int, seconds: float, rest: Sequence[Amount]
) -> str:
    """E8: the minimum of a gang did not run in time."""
    left = _held(rest) if rest else "nothing more"
    return (
        f"Queue <{show(queue)}>: <{bound}> of the <{minimum}> pods that start together had a node "
        f"<{seconds:g}> s after their start; what is still reserved is to be given back: "
        f"{left}. Pods that were let through stay charged. The others wait anew, behind "
        "those who fit: see why the missing ones do not run or do not exist, or lower minMember"
    )


def request_expired(
    queue: str, there: int, minimum: int, seconds: float, rest: Sequence[Amount]
) -> str:
    """E8: the pods of a group that was enqueued did not come, or did not start, in time."""
    advice = "Its pods wait on, behind those who fit: see why they do not start"
    if there < minimum:
        advice = (
            "It is reserved again, behind those who fit, when a pod of the group is there or the "
            "group asks for something else: create its pods, or delete the group"
        )
    return (
        f"Queue <{show(queue)}>: <{there}> of the <{minimum}> pods of the group were there "
        f"<{seconds:g}> s after it was enqueued; what is reserved is to be given back: "
        f"{_held(rest)}. {advice}"
    )


def reservation_kept(queue: str, rest: Sequence[Amount], answer: str) -> str:
    """A reservation is over, and removing it from the PodGroup is refused."""
    return (
        f"{_not_written(answer)}; so what is still reserved is "
        f"not given back, though the reservation is over: Queue <{show(queue)}> holds for the "
        f"group: {_held(rest)}; it is tried again, ever less often: correct what is named there"
    )


def other_resource(card: str, behind: str, asked: str) -> str:
    """The card is counted by another resource name than the one asked for (P2)."""
    return (
        f"card <{show(card)}> is counted as {show(behind)}, but the containers ask for "
        f"{show(asked)}; ask for the card's own resource, and name only cards that share it"
    )


def other_form(card: str, asked: str) -> str:
    """A slice or a share is asked for as a whole card, or the reverse (P4)."""
    return (
        f"card <{show(card)}> is not what {show(asked)} counts: a slice or a share is not a whole "
        "card; ask for the resource of that very card"
    )


def selector_excludes(wants: str, cards: Sequence[str]) -> str:
    """The pod's own selector leaves none of the cards it names (P5).

    `wants`: its requirements on the labels of cards; empty if it selects nothing at all.
    """
    said = show(wants, most=_MOST_OF_SELECTOR) or "it selects no node at all"
    return (
        f"the pod's node selector or affinity ({said}) excludes every card that "
        f"{v.CARD_NAME} names ({listed(cards, ' | ')}); make them agree"
    )


def queue_not_found(queue: str, asked: Asked = ()) -> str:
    """The queue does not exist."""
    return (
        f"Queue <{show(queue)}> does not exist{_requested(asked)}; name one that does "
        f"(`kubectl get queues`) in the annotation {v.QUEUE_NAME}, or ask for it to be created"
    )


def queue_not_seen(queue: str) -> str:
    """The queue exists, but its quota has not been read yet. Also a Warning: short."""
    return f"Queue <{show(queue)}> is new and not read yet: the pod waits at its gate until it is"


def queue_not_open(queue: str, state: str, asked: Asked = (), *, of_group: bool = False) -> str:
    """The queue takes nothing new (Q6)."""
    return (
        f"Queue <{show(queue)}> is {state} and takes nothing new"
        f"{_requested(asked, of_group=of_group)}; "
        "use another queue, or ask its owner to open it"
    )


def namespace_not_admitted(
    queue: str, namespace: str, asked: Asked = (), *, of_group: bool = False
) -> str:
    """The queue is not open to this namespace."""
    return (
        f"Queue <{show(queue)}> is not open to namespace <{show(namespace)}>"
        f"{_requested(asked, of_group=of_group)}; "
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
        f"Queue <{show(queue)}> {why} and takes no growth: {', '.join(amounts)}; "
        f"ask for no more than the pod has, {ask}, or create the pod anew in another queue"
    )


def no_queue(namespace: str, asked: Asked = (), *, everywhere: bool = False) -> str:
    """A pod asks for cards without a queue where one is required: by the namespace's label, or
    everywhere by the configuration.
    """
    who = "the configuration" if everywhere else f"namespace <{show(namespace)}>"
    return (
        f"the pod requests {_amounts(asked) or 'cards'} but names no queue, and "
        f"{who} demands one; add the annotation {v.QUEUE_NAME} to the pod or to the "
        "namespace"
    )


def queue_not_named(queue: str, asked: Asked) -> str:
    """A pod gets its queue from elsewhere, and asks for a card by a resource name of no vendor row:
    a policy that sets the gate cannot see that this pod needs it.
    """
    text = (
        "no vendor row has this resource, so the policy that sets the gate knows such a pod by its "
        "own annotations alone: ask an administrator for a row in `vendors`, or name the queue in "
        f"the annotation {v.QUEUE_NAME} of the pod"
    )
    return invalid_request(queue, asked, text)


def card_without_queue(card: str) -> str:
    """Warning: a card is named, but no quota applies."""
    return f"card <{_choice(card)}> is named without a queue: no quota applies; add {v.QUEUE_NAME}"


def queue_disagrees(group: str, theirs: str, own: str, asked: Asked = ()) -> str:
    """The pod and its group name two queues."""
    return (
        f"pod group <{show(group)}> belongs to queue <{show(theirs)}>, but the pod's annotation "
        f"names queue <{show(own)}>{_requested(asked)}; make them agree or drop the annotation"
    )


def group_not_seen(group: str) -> str:
    """The pod waits for its group. Also a Warning: short."""
    return (
        f"pod group <{show(group)}> does not exist (yet): the pod waits; "
        f"create it, or correct {v.GROUP_NAME}"
    )


def node_without_card(queue: str, card: str, amount: int) -> str:
    """The pod names its nodes, and none of them has a card for it. Also a Warning: short.

    `card`: as the pod names it; else the resource.
    """
    return (
        f"Queue <{show(queue)}>, requested <{amount}> of <{_choice(card)}>: its nodes have none: "
        "it waits; select nodes with cards"
    )


def gang_incomplete(group: str, there: int, minimum: int) -> str:
    """The gang waits for members that have not been created."""
    return (
        f"pod group <{show(group)}> starts with <{minimum}> pods together, but only <{there}> are "
        "there; create the others, or lower its minMember"
    )


def gang_tasks_incomplete(group: str, tasks: Sequence[tuple[str, int, int]]) -> str:
    """The gang waits for members of some tasks that have not been created.

    `tasks`: each with its minimum, and how many of its pods are there.
    """
    return (
        f"pod group <{show(group)}> starts with its minimum of each task (spec.minTaskMember), but "
        f"too few are there: {_by_task(tasks)}; create the others, which name their task in "
        f"annotation {v.TASK}, or lower its minTaskMember"
    )


def gang_tasks_not_ready(group: str, queue: str, tasks: Sequence[tuple[str, int, int]]) -> str:
    """All members of the gang exist, but not enough of some tasks can be let through.

    `tasks`: each with how many must still be let through, and how many can be, in this queue.
    """
    return (
        f"pod group <{show(group)}> starts with its minimum of each task (spec.minTaskMember), and "
        f"they are there, but too few can be let through in queue <{show(queue)}>: "
        f"{_by_task(tasks)}; let all of them name one queue, and see what holds up those that are "
        "being deleted (their finalizers)"
    )


def _by_task(tasks: Sequence[tuple[str, int, int]]) -> str:
    texts = [f"of task <{show(task)}> <{found}> of <{least}>" for task, least, found in tasks]
    return first_of(texts, ", ")


def gang_not_ready(group: str, queue: str, minimum: int, missing: int, ready: int) -> str:
    """All members of the gang exist, but not enough of them can be let through.

    `missing`: how many are still to be let through. `ready`: how many can be, in this queue.
    """
    return (
        f"pod group <{show(group)}> starts with <{minimum}> pods together, and they are there, but "
        f"of the <{missing}> that must still be let through only <{ready}> can be in queue "
        f"<{show(queue)}>: others are being deleted, or belong to another queue; let all of them "
        "name one queue, and see what holds up those that are being deleted (their finalizers)"
    )


def waits_in_order(queue: str, number: int, of: int) -> str:
    """The place of a group that waits, after why it waits. `number` 0: too many to count."""
    if not number:
        return f"more than <{of}> wait in Queue <{show(queue)}>"
    return f"number <{number}> of <{of}> that wait in Queue <{show(queue)}>"


def group_let_through(queue: str) -> str:
    """Condition: the pods of a group's minimum are let through, or start now."""
    return f"Queue <{show(queue)}> has let the group start"


def group_runs_in_part(running: int, minimum: int) -> str:
    """Condition: a group ran, and now fewer of its pods do than start together."""
    return (
        f"<{running}> of the <{minimum}> pods that start together run: "
        "see why the others have ended, or create them again"
    )


def gang_too_unlike(group: str, members: int, most: int) -> str:
    """The members that start together ask for too many different things."""
    return (
        f"the <{members}> pods of group <{show(group)}> that start together differ in what they "
        f"ask for, or in which nodes they may use, in more than <{most}> ways: give more of them "
        "the same requests, or lower its minMember"
    )


def behind(queue: str, card: str, before: int, first: str | None = None) -> str:
    """No pod passes another in a queue with `dequeueStrategy: fifo`.

    `before`: how many pods, at least, wait for the card before this one. `first`: the first of
    them, if the reader may see it; pods of other namespaces are not named.
    """
    named = f", first of all <{show(first)}>" if first else ""
    return (
        f"Queue <{show(queue)}> releases in order (fifo): at least <{before}> wait for "
        f"<{show(card)}> before this pod{named}; wait too, or ask the queue's owner for a higher "
        "quota"
    )


def behind_long_wait(
    queue: str, waited: int, asked: Sequence[Amount], *, group: bool, name: str | None = None
) -> str:
    """There is room, but it is set aside for a group, or a pod, that has waited too long (E6).

    `waited`: seconds. `name`: that of the group or pod, if the reader may see it.
    """
    kind = "group" if group else "pod"
    who = f"{kind} <{show(name)}>" if name else f"a {kind}"
    return (
        f"Queue <{show(queue)}> sets aside what is free for {who}, which comes before this pod and "
        f"has waited <{waited // 60}> min for {_held(asked)}: this pod would take of it; wait too, "
        "or ask the queue's owner for a higher quota"
    )


def namespace_not_seen(namespace: str) -> str:
    """The rules of a namespace that was just created are not known yet; clients retry."""
    return f"cardquota has not seen namespace <{show(namespace)}> yet; try again in a second"


def not_read_lately() -> str:
    """It is not known what is free: the view is missing or old, and the pod cannot wait."""
    return "cardquota has not read the cluster in time to judge this; try again in a second"


def gated_without_queue() -> str:
    """A gated pod that has lost its queue."""
    return (
        f"the pod is gated but has no queue any more; name one in the annotation {v.QUEUE_NAME} "
        "of the pod or of its namespace"
    )


def node_named(node: str) -> str:
    """The pod names its node and cannot be gated (E9)."""
    return (
        f"the pod names its node <{show(node)}> in spec.nodeName, so it cannot wait for quota; "
        "leave the choice to the scheduler (a node selector or affinity can say the same)"
    )


def device_claimed() -> str:
    """Devices claimed by DRA cannot be counted by name (P7)."""
    return (
        "devices claimed by spec.resourceClaims, or by the resource name of a DeviceClass, cannot "
        "be counted by card yet; ask for the card's own resource in the container's limits"
    )


def claim_not_counted() -> str:
    """Warning: the same, where it is let by (P7)."""
    return "devices claimed by spec.resourceClaims or from a DeviceClass are counted by no quota"


def card_of_no_node(card: str, *, of_group: bool = False) -> str:
    """Warning: the pool of this card is scaled to zero (P4)."""
    who = _GROUP if of_group else _POD
    return f"no node has card <{show(card)}> at present: {who} waits for one"


def disagree(one: str, text: str, other: str, other_text: str) -> str:
    """Two annotations that mean the same say different things (section 2)."""
    return f"annotations {one} <{show(text)}> and {other} <{show(other_text)}> disagree"


def group_elsewhere(group: str) -> str:
    """The annotation names a group as if it were in another namespace."""
    return (
        f"annotation {v.GROUP_NAME} <{show(group)}> names no pod group: a pod's group is "
        "one of its own namespace, by its name alone"
    )


def alias_used() -> str:
    """Warning: the annotation's old name."""
    return f"annotation {v.CARD_NAME_ALIAS} is read as {v.CARD_NAME}; write the latter"


def released(queue: str, cards: Asked) -> str:
    """The gate is open."""
    return f"Queue <{show(queue)}> has room: gate opened, charged {_charged(cards)}"


def released_unasked(queue: str, namespace: str, mode: str, cards: Asked) -> str:
    """The gate is open whatever room there is: no pod waits in such a namespace."""
    charged = f", charged {_charged(cards)} to Queue <{show(queue)}>" if queue else ""
    where = f"namespace <{show(namespace)}> (mode {mode})"
    return f"gate opened without asking for room: nothing waits in {where}{charged}"


def _charged(cards: Asked) -> str:
    return allocated_text(tuple(cards)) if cards else "cpu and memory"


def audited(text: str) -> str:
    """Warning or event in audit mode."""
    return f"audit: would not be let through: {text}"


def partly_fits(name: str, asked: int, fits: int, *, waits: bool) -> str:
    """Warning on a workload whose pods do not all fit."""
    rest = "the rest waits at the gate" if waits else "the rest is refused until there is room"
    return f"{show(name)}: {fits} of {asked} pods fit the quota now, {rest}"


def partly_audited(name: str, asked: int, fits: int) -> str:
    """The same in audit mode, which refuses and gates nothing. To be passed to `audited`."""
    return f"{show(name)}, {asked - fits} of {counted(asked, 'pod')}: {fits} fit the quota now"


def update_cannot_begin(name: str, unavailable: int) -> str:
    """Warning on a Deployment whose template changes: none of the new pods can start. Short.

    `unavailable`: the least `maxUnavailable`, in pods, with which one could.
    """
    return (
        f"{show(name)}: the update cannot begin, a new pod has no room: "
        f"write maxSurge 0 and maxUnavailable {unavailable}, or ask for more quota"
    )


def group_queue_not_found(queue: str, asked: Asked = ()) -> str:
    """The queue that a pod group names does not exist."""
    return (
        f"Queue <{show(queue)}> does not exist{_requested(asked, of_group=True)}; "
        "name one that does (`kubectl get queues`) in spec.queue, or ask for it to be created"
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
        f"{_counted_as(behind)} are counted by different resource names; ask for cards of one of "
        "them, and make another group for the others"
    )


def _counted_as(resource: str) -> str:
    return f" ({show(resource)})" if resource else ""


def group_refused(group: str, problem: str) -> str:
    """A pod group that is written has a minimum that means nothing. `problem`: one of the next."""
    return f"pod group <{logged(group)}>: {problem}"


def minimum_too_small(minimum: int) -> str:
    """`spec.minMember` is zero or negative."""
    return (
        f"spec.minMember is <{minimum}>, but at least <1> pod starts; "
        "write how many pods must start together, or leave it out"
    )


def task_minimum_negative(task: str, minimum: int) -> str:
    """A value of `spec.minTaskMember` is negative."""
    return (
        f"spec.minTaskMember of task <{show(task)}> is <{minimum}>, which is less than none; "
        "write how many pods of the task must start, or leave it out"
    )


def task_minimums_too_large(together: int, minimum: int) -> str:
    """The values of `spec.minTaskMember` are more than `spec.minMember` together."""
    return (
        f"the values of spec.minTaskMember are <{together}> together, more than spec.minMember "
        f"<{minimum}>; make them agree"
    )


def minimum_disagrees(resource: str, in_resources: int, in_request: int) -> str:
    """Warning: `spec.minResources` and `card.request` ask for different numbers. Short."""
    return (
        f"spec.minResources has <{in_resources}> {show(resource, most=40)}, {v.REQUEST} "
        f"<{in_request}>: the latter counts"
    )


def group_moved(queue: str) -> str:
    """Warning: a group that runs gets another queue (E10). Short."""
    return (
        "its pods that were let through stay charged where they are; those at the gate go to "
        f"Queue <{show(queue, most=20)}>"
    )


def group_reservation_ends(queue: str) -> str:
    """Warning: a group with a reservation gets another queue (T2). Short."""
    return f"what is still reserved for it in Queue <{show(queue, most=40)}> is given back"


def group_goes_on(let_through: int, missing: int) -> str:
    """Warning: a group that runs gets another queue or `minMember`. `missing`: how many pods start
    together next; 0: they start one by one. Short.
    """
    rest = f"only when <{missing}> can together" if missing else "one by one"
    return (
        f"<{let_through}> of its pods were let through and stay; nothing more is reserved, and the "
        f"others start {rest}"
    )


def queue_in_use(queue: str, pods: int, groups: int) -> str:
    """A queue that is used cannot be deleted (Q8)."""
    users = f"{counted(pods, 'pod')} and {counted(groups, 'pod group')}"
    return (
        f"Queue <{show(queue)}> is in use by {users}; "
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


def namespaces_refused() -> str:
    """The namespaces of a queue that is written cannot be read."""
    return (
        f"annotation {v.NAMESPACES} cannot be read. "
        'Write a JSON list of namespace names or patterns, such as ["team-a", "team-a-*"]'
    )


def not_one_of(key: str, value: str, allowed: Sequence[str]) -> str:
    """An annotation of a queue has a value that means nothing (Q6, Q8)."""
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


def over_quota(queue: str, dimension: str, charged: int, limit: int) -> str:
    """More is charged than the quota allows (Q7)."""
    held, allowed = amount_texts(dimension, charged, limit)
    return (
        f"Queue <{show(queue)}> holds {held} of <{show(dimension)}>, its quota is {allowed}: "
        "nothing new is let through until it fits; free some of it, or raise the quota"
    )


def unadmitted(queue: str, pods: int, held: Sequence[Amount]) -> str:
    """Pods are charged that we never let through (I3). `held`: what they hold.

    Names no pod: all users of a queue can read its events.
    """
    amounts = listed([f"{name} {amount_text(name, amount)}" for name, amount in held])
    return (
        f"Queue <{show(queue)}> is charged for {counted(pods, 'pod')} that never passed its gate; "
        f"together they hold {amounts}. They count like all others: "
        "delete what should not run. Pods pass by before the installation, where namespaces are "
        "off or exempt, while webhooks and policies are missing, and, where they carry no "
        "annotation and their namespace is not labelled `enforced`, if their resource is in no "
        "vendor row (`kubectl cardquota cards` lists such cards: add a row)"
    )


def oversold(card: str, quotas: int, total: int) -> str:
    """All quotas together exceed the cluster (Q3)."""
    return f"all quotas of <{show(card)}> together are {quotas}, the cluster has {total}"


def quota_unreadable(problem: str, *, kept: bool = True) -> str:
    """The stored quota cannot be read (Q4). `kept`: whether there is an earlier one."""
    force = (
        "the last good quota stays in force" if kept else "there is no earlier one: all cards are 0"
    )
    return f"annotation {v.QUOTA} cannot be read: {problem}; {force} until it is corrected"


def limit_unreadable(problem: str) -> str:
    """A limit of cpu or memory that is stored cannot be read."""
    return f"{problem}; it counts as 0 until it is corrected"


def not_counted(node: str, problems: Sequence[str], *, others: bool) -> str:
    """Cards of a node that are not counted, and why (D7, D9). `others`: whether some are (D5)."""
    whose = f"{'some ' if others else ''}cards of node <{show(node)}>"
    return (
        f"{whose} are not counted: {'; '.join(problems)}; "
        "correct the node's labels or its device plugin"
    )


def namespace_mode_unknown(namespace: str, value: str) -> str:
    """The label of a namespace has a value that means nothing."""
    return (
        f"Namespace <{show(namespace)}>: the label {v.NAMESPACE_MODE} is <{show(value)}>, which "
        "means nothing: its pods are treated as if there were no such label; write "
        f"{', '.join(v.NAMESPACE_MODES[:-1])} or {v.NAMESPACE_MODES[-1]}, or take it away"
    )


def installation_fault(kind: str, name: str, differences: Sequence[str]) -> str:
    """An object that an administrator applies is not what the configuration asks for."""
    found = "; ".join(differences)
    return f"{show(kind)} <{show(name)}> {found}: apply the output of `cardquota manifests`"


def installation_restored(kind: str, name: str) -> str:
    """The inverse of `installation_fault`."""
    return f"{show(kind)} <{show(name)}> is what the configuration asks for again"
