"""What is wrong with what a pod, or a group, asks for: it cannot be read, or never be met."""

from collections.abc import Mapping, Sequence
from typing import Final

from .. import vocabulary as v
from ..cards.card import is_memory, memory_card, model_of
from ..limits import Limit
from ..words import first_of, listed, show
from .phrases import Asked, asked_text, choice_text, did_you_mean, who_asks

_MOST_OF_SELECTOR: Final = 400
"""Characters that are shown of a pod's selector: room for five terms of usual length."""


def invalid_request(queue: str, asked: Asked, text: str, *, of_group: bool = False) -> str:
    """What is wrong with the request itself, regardless of room.

    `queue` is empty if it is not known.
    """
    amounts = asked_text(asked)
    if not queue:
        who = who_asks(of_group=of_group)
        return f"{who} requests {amounts}: {text}" if amounts else text
    return f"Queue <{show(queue)}>{f', requested {amounts}' if amounts else ''}: {text}"


def unreadable(problem: str) -> str:
    """The pod's amounts or annotations cannot be read (P4)."""
    return f"{problem}; correct the pod's amounts or annotations"


def beyond_limit(limit: Limit, found: int, of: str = "the pod") -> str:
    """A pod or another object exceeds a limit (P8). Short: also part of a Warning."""
    if limit.sized:
        return f"{limit.what} is <{found}> bytes long, at most <{limit.most}> are read: write less"
    return f"{of} has <{found}> {limit.what}, at most <{limit.most}> are read: write fewer"


def too_much_kept(limit: Limit, found: int, of: str = "the pod") -> str:
    """Too much is kept of other objects already, so an object is not read (P8)."""
    return (
        f"with {of}, {limit.what} would take <{found}> bytes of the operator's memory, at most "
        f"<{limit.most}> are kept; wait until others have started, or delete some of them"
    )


def not_read(kind: str, name: str, problem: str) -> str:
    """Only the name of an object is kept (P8). `problem`: why, as one of these two."""
    if kind == "Pod":
        return f"the pod is not read, and waits: {problem}"
    return f"pod group <{show(name)}> is not read, and its pods wait: {problem}"


def room_to_read() -> str:
    """An object that was not read will be (P8)."""
    return "there is room for it again; wait a few seconds"


def keys_left_out(keys: Sequence[str]) -> str:
    """A Warning: a new object had annotations that only we write (I3)."""
    return f"left out: {listed(_short(keys), ', ', most=3)}; cardquota writes these annotations"


def keys_kept(keys: Sequence[str]) -> str:
    """A Warning: an object was replaced without annotations that only we write (I3)."""
    return f"kept: {listed(_short(keys), ', ')}; only cardquota removes these annotations"


def _short(keys: Sequence[str]) -> list[str]:
    return [key.rpartition("/")[2] for key in keys]


def several_resources(resources: Sequence[str]) -> str:
    """The pod asks for more than one card resource (P2)."""
    names = listed(resources, " and ")
    return (
        f"the pod asks for {len(resources)} card resources ({names}), but one pod may "
        "use only one card model; split it into several pods"
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
        f"annotation {v.CARD_NAME} names <{choice_text(card)}>, but no container asks for a "
        "card resource such as nvidia.com/gpu; add one to the limits, or remove the annotation"
    )


def card_unknown(
    card: str, *, product_there: bool, where: str = v.CARD_NAME, meant: str = ""
) -> str:
    """The card is on no node and in no quota, or its product is on nodes without it (P4). `meant`:
    the card that was probably meant.
    """
    why = "no node offers it"
    if product_there:
        why = "nodes have its product, but not in this form (whole card, slice or share)"
    return (
        f"card <{show(card)}> is not known: {why}; "
        f"correct {where} (`kubectl get queues` shows the cards with a quota){did_you_mean(meant)}"
    )


def card_impossible(card: str, where: str = v.CARD_NAME) -> str:
    """The card has a quota, but no node can ever have a card of this name (P4)."""
    return (
        f"no node can have card <{show(card)}>: a card has the name that its node's label says, "
        "with letters, digits, -, _ and . only (`kubectl cardquota cards` lists all); "
        f"correct {show(where)} and the queue's quota"
    )


def other_resource(card: str, behind: str, asked: str) -> str:
    """The card is counted by another resource name than the one asked for (P2)."""
    return (
        f"card <{show(card)}> is counted as {show(behind)}, but the containers ask for "
        f"{show(asked)}; ask for {show(behind)}, or name only cards that are counted as "
        f"{show(asked)}"
    )


def resources_differ(resources: Mapping[str, str]) -> str:
    """The cards that a pod names are counted by different resource names, which these are (P2)."""
    each = [f"<{show(card)}> is {show(resource)}" for card, resource in resources.items()]
    return (
        f"{v.CARD_NAME} names cards of different resource names ({first_of(each, ', ')}), and a "
        "pod cannot ask for one or the other; name cards of one resource name, and ask for that "
        "alone"
    )


def memory_by_product(cards: Sequence[str]) -> str:
    """The pod asks for card memory and names whole cards, or slices or shares (B10)."""
    names = listed(cards, " | ")
    wanted = listed([memory_card(model_of(name)) for name in cards], "|")
    return (
        f"the containers ask for {v.GPU_MEMORY}, the memory of a card, but {v.CARD_NAME} is "
        f"<{names}>; write <{wanted}>"
    )


def other_form(card: str, asked: str) -> str:
    """A slice or a share is asked for as a whole card, or the reverse (P4)."""
    return (
        f"{show(asked)} does not count card <{show(card)}>: a slice or a share is not a whole "
        "card; ask for the card's own resource, or name another card"
    )


def selector_excludes(wants: str, cards: Sequence[str]) -> str:
    """The pod's own selector leaves none of the cards it names (P5).

    `wants`: its requirements on the labels of cards; empty if it selects nothing at all.
    """
    said = show(wants, most=_MOST_OF_SELECTOR) or "it selects no node at all"
    return (
        f"the pod's node selector or affinity ({said}) excludes every card that "
        f"{v.CARD_NAME} names ({listed(cards, ' | ')}); change the selector or affinity, or "
        "name other cards"
    )


def node_without_card(queue: str, card: str, amount: int) -> str:
    """The pod names its nodes, and none of them has a card for it. Also a Warning: short.

    `card`: as the pod names it; else the resource.
    """
    return (
        f"Queue <{show(queue)}>, requested <{amount}> of <{choice_text(card)}>: no node it may use "
        "has such a card; it waits; add a node selector"
    )


def card_unclear(cards: Sequence[str]) -> str:
    """The pod may use several cards, and none of the nodes that it picks is there (P3)."""
    return (
        "no node with such a card is there that the pod may use, so nothing tells which card it "
        f"means; name one in {v.CARD_NAME} ({first_of([show(card) for card in cards], ' or ')})"
    )


def card_unclear_yet() -> str:
    """Warning: the same, in short."""
    return f"no node that the pod picks shows which card it means: name one in {v.CARD_NAME}"


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
        "be counted by card; ask for the card's own resource in the container's limits"
    )


def with_claim(text: str, why: str) -> str:
    """A refusal by `device_claimed`, and why a claim is no other: one of the next texts."""
    return f"{text}; {why}"


def claim_of(kind: str, name: str, device_class: str) -> str:
    """It may be of a card."""
    return (
        f"{show(kind)} <{show(name)}> is of DeviceClass <{show(device_class)}>; if that has no "
        "cards, it can be let by: ask for it to be named in the setting deviceClassesWithoutCards"
    )


def claim_missing(kind: str, name: str) -> str:
    """What it claims is not known."""
    known = "does not exist, so what it claims is not known: create it first"
    return f"{show(kind)} <{show(name)}> {known}"


def claim_not_read(kind: str, name: str, error: str) -> str:
    """The same, since the API server did not say it."""
    return f"what {show(kind)} <{show(name)}> claims could not be read: {show(error)}; try again"


def claims_not_read(number: int, most: int) -> str:
    """The same, since they are too many."""
    return f"the pod has <{number}> claims, of which at most {most} are read: use fewer"


def claim_not_counted() -> str:
    """Warning: the same, where it is admitted (P7)."""
    return "no quota counts devices claimed by spec.resourceClaims or from a DeviceClass"


def memory_not_limited(queue: str) -> str:
    """Warning: the pod has a queue, and no quota of any queue limits card memory (B10)."""
    return f"Queue <{show(queue)}>: {v.GPU_MEMORY} is not limited: no quota has a row for it"


def card_of_no_node(
    card: str, *, of_group: bool = False, selects: bool = False, waits: bool = True
) -> str:
    """Warning: the pool of this card is scaled to zero (P4), or `selects`: no node that the pod
    selects has it. `waits`: not in audit mode, where the name of a card keeps nobody from other
    nodes (P5).
    """
    told = f"no node{' that the pod selects' if selects else ''} has card <{show(card)}> at present"
    return f"{told}: {who_asks(of_group=of_group)} waits until one has" if waits else told


def more_than_a_node(card: str, amount: int, most: int, *, waits: bool = True) -> str:
    """Warning: nodes have the card, but none as many; of card memory, no card has as much (P4)."""
    what = "card" if is_memory(card) else "node"
    told = f"no {what} has <{amount}> of <{show(card)}>, the most is <{most}>"
    return f"{told}: the pod waits until one has" if waits else told


def disagree(one: str, text: str, other: str, other_text: str) -> str:
    """Two annotations that mean the same say different things (section 2)."""
    return f"annotations {one} <{show(text)}> and {other} <{show(other_text)}> disagree"


def foreign_gate(gate: str) -> str:
    """Warning: another gate than ours."""
    return (
        f"scheduling gate <{show(gate)}> is not cardquota's: a pod that waits for that one alone "
        "holds its quota"
    )


def deadline_in_queue(seconds: int) -> str:
    """Warning: a Job's deadline."""
    return (
        f"activeDeadlineSeconds <{seconds}> also counts while pods wait for quota: the Job may "
        "fail before they start"
    )


def key_beside_template(key: str) -> str:
    """Warning: an annotation of pods, on the workload that makes them."""
    return (
        f"annotation {show(key)} of a workload does nothing: write it in its pod template's "
        "metadata"
    )


def alias_used() -> str:
    """Warning: the annotation's old name."""
    return f"annotation {v.CARD_NAME_ALIAS} is an old name; write {v.CARD_NAME} instead"
