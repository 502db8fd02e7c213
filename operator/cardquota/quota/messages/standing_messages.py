"""How a pod or a workload stands, where no quota keeps it waiting."""

from collections.abc import Sequence
from typing import Final

from ..amounts import Amount
from ..cards.card import is_memory
from ..words import counted, lasting, listed, show
from .phrases import did_you_mean, held_text

FITS_QUOTA: Final = "it fits the quota"
IN_NO_QUEUE: Final = "it is in no queue, so no quota holds it"
CAME_UNENFORCED: Final = "no quota was enforced when it came, and it counts all the same"
NOT_COUNTED_YET: Final = "no quota was enforced when it came: it counts once it is on a node"
CAME_PAST_GATE: Final = "it never waited at the gate of cardquota, and counts all the same"
GATE_HELD_BACK: Final = (
    "the API server or a webhook refused to open its gate; its event GateNotOpened says which; "
    "cardquota tries again"
)
START_UNDER_WAY: Final = (
    "it is about to be let through, or its group is being written; look again in a minute"
)
NOT_ENFORCED: Final = (
    "no quota is enforced in its namespace, so its gate is opened as soon as a replica leads; see "
    "that one does (metric cardquota_leader)"
)
NO_QUOTA_REFUSES: Final = (
    "no quota refuses its next pod, so its controller has not tried again, or something else "
    "refuses the pod; if it stays so, its events say what"
)
TEMPLATE_NOT_KEPT: Final = (
    "its pod template is too large to be kept, so the reason is not known here; its events say it"
)

_NOT_TRIED: Final = (
    "its controller has not tried again, or something else refuses the pod; if it stays so, its "
    "events say what"
)


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


def room_now(queue: str) -> str:
    """The pod fits as things stand."""
    return (
        f"Queue <{show(queue)}> has room for it now, so others come before it, or no replica "
        "leads; see who else waits, and that a replica leads (metric cardquota_leader)"
    )


def room_may_be_set_aside(queue: str, wait: float) -> str:
    """The same, and one that comes before it has waited long for one of its cards. `wait`: from how
    many seconds on room is set aside (E6).
    """
    return (
        f"Queue <{show(queue)}> has room for it now, but one that comes before it has waited for "
        f"its cards for more than <{lasting(int(wait))}>: what is free may be set aside for that "
        "one, and then an event says so; wait too, or ask the queue's owner for a higher quota"
    )


def would_be_admitted(queue: str) -> str:
    """The next pod of a workload would not be refused."""
    return f"Queue <{show(queue)}> has room for its next pod now, so {_NOT_TRIED}"


def would_wait(text: str) -> str:
    """The next pod of a workload would not be refused: it would wait at the gate. `text`: why."""
    return f"its next pod would be created and wait at the gate: {text}; {_NOT_TRIED}"
