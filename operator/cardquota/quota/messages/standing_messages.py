"""How a pod or a workload stands, where no quota keeps it waiting."""

from collections.abc import Sequence
from typing import Final

from ..amounts import Amount
from ..cards.card import is_memory
from ..words import counted, listed, show
from .phrases import did_you_mean, held_text

FITS_QUOTA: Final = "it fits the quota"
IN_NO_QUEUE: Final = "it is in no queue, so no quota holds it"
CAME_UNENFORCED: Final = "no quota was enforced when it came, and it counts all the same"
NOT_COUNTED_YET: Final = "no quota was enforced when it came: it counts once it is on a node"
CAME_PAST_GATE: Final = "it never waited at the gate of cardquota, and counts all the same"


def beyond_quota(queue: str) -> str:
    """What it holds counts where more is held than the quota allows."""
    return f"it counts in Queue <{show(queue)}>, which is over its quota"


def runs_on(node: str, held: Sequence[Amount], why: str = FITS_QUOTA) -> str:
    """A pod is on a node. `why`, here and below: why it holds what it holds, as above."""
    return f"{why}: it is on node <{show(node)}> and holds {held_text(held)}"


def let_through(held: Sequence[Amount], why: str = FITS_QUOTA) -> str:
    """Its gate is open."""
    return (
        f"{why}: it holds {held_text(held)} and waits for a node; the scheduler's event "
        "FailedScheduling says why it has none (`kubectl describe pod`)"
    )


def no_node_free(card: str, amount: int, most: int, why: str = FITS_QUOTA) -> str:
    """No node has as many of its card free, and pods hold what is missing."""
    return (
        f"{why}, and it waits for a node: no node that takes pods has <{amount}> of "
        f"<{show(card)}> free, the most is <{most}>; wait until other pods end, or ask for a node"
    )


def no_node_ready(card: str, amount: int, most: int, why: str = FITS_QUOTA) -> str:
    """Of the nodes that take pods none has as many of its card at all; others have."""
    return (
        f"{why}, and it waits for a node: no node that takes pods has <{amount}> of "
        f"<{show(card)}>, the most is <{most}>; wait until one is ready and not cordoned, or ask "
        "for a node"
    )


def no_node_large(card: str, amount: int, most: int, why: str = FITS_QUOTA) -> str:
    """No node has as many of its card at all; of card memory, no card has as much."""
    what = "card" if is_memory(card) else "node"
    less = f"ask for at most <{most}>, or for" if most else "ask for"
    return (
        f"{why}, and it waits for a node: no {what} has <{amount}> of <{show(card)}>, the most is "
        f"<{most}>; {less} a node with as many"
    )


def other_gates_shut(gates: Sequence[str], why: str = FITS_QUOTA) -> str:
    """There are scheduling gates of others."""
    return (
        f"{why}; it waits at scheduling gates that are not cardquota's: {listed(gates)}; whoever "
        "set them must open them"
    )


def being_deleted(held: Sequence[Amount] = ()) -> str:
    """It waits for nothing any more. `held`: until it is gone."""
    return f"it is being deleted{f', and holds {held_text(held)} until it is gone' if held else ''}"


def all_pods_there(running: int, unbound: int, why: str = FITS_QUOTA) -> str:
    """A workload, or a group, has all pods that it wants. `unbound`: those without a node yet."""
    rest = f", {counted(unbound, 'pod')} let through and not yet on a node" if unbound else ""
    return f"{why}: {counted(running, 'pod')} on nodes{rest}, and none waits for quota"


def gang_lacks_members(running: int, unbound: int, missing: int, minimum: int) -> str:
    """Members of a gang have gone, and none has come in their place."""
    rest = f", {counted(unbound, 'pod')} let through and not yet on a node" if unbound else ""
    return (
        f"{counted(running, 'pod')} on nodes{rest}, and <{missing}> of its minimum of <{minimum}> "
        "are missing: whoever creates its pods has not created them"
    )


def group_is_over() -> str:
    """A group is completed, or all its pods have ended."""
    return "its pods have ended, so it waits for nothing"


def group_reserved(held: Sequence[Amount]) -> str:
    """A group of which nothing is there, and for which something is reserved (E1)."""
    return f"{held_text(held)} is reserved for it, and it waits for its pods"


def group_without_pods() -> str:
    """A group of which nothing is there, and nothing keeps it from having its pods."""
    return "none of its pods exists yet, and nothing is reserved for them"


def wants_no_pods() -> str:
    """It is scaled to zero, suspended or over."""
    return "it wants no pods, so it waits for nothing"


def pods_not_known() -> str:
    """A workload lacks no pods, and we know none of them."""
    return "it has all its pods, and none of them is known to use a card or to name a queue"


def no_such_workload(kind: str, namespace: str, name: str, *, meant: str = "") -> str:
    """Nothing of this name concerns quotas. `meant`: the name that was probably meant."""
    return (
        f"{show(kind)} <{show(namespace)}/{show(name)}> is not known to cardquota: it does not "
        "exist, has ended or is suspended, or its pods name no queue and no card and ask for none"
        f"{did_you_mean(meant)}"
    )
