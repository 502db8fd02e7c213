"""Why a pod is not bound, and why a node does not fit it: what kube-scheduler gets, logs, and shows
in its event. After an error kube-scheduler tries the pod again.

The reasons of nodes, from `NODE_UNKNOWN` on, name no node and no number of the moment (B4):
kube-scheduler counts the nodes by reason, and with another text each try would be another event.
"""

from .. import vocabulary as v
from ..cards.memory_shape import SharedUnit
from ..words import show

NO_LEADER = "no replica of cardquota leads at the moment: try again"
TOO_LATE = (
    "the leader of cardquota is about to change, or the API server refuses its decisions: try again"
)


def leader_unreachable(address: str) -> str:
    """The leader did not answer. Whether it has bound the pod is not known here."""
    return (
        f"the leading replica of cardquota at <{show(address)}> did not answer: another one will "
        "lead soon, try again"
    )


def pod_unknown(namespace: str, name: str) -> str:
    """No pod with this uid is known, or it asks for no card."""
    return (
        f"pod <{show(namespace)}/{show(name)}> with this uid is not known to cardquota: it is new, "
        "was deleted, or was created again under its name: try again"
    )


def pod_bound_elsewhere(namespace: str, name: str, node: str) -> str:
    """The pod has a node, and not this one."""
    return f"pod <{show(namespace)}/{show(name)}> is bound to node <{show(node)}> already"


def pod_under_way(namespace: str, name: str, node: str) -> str:
    """A Binding of the pod to another node has been sent, and may still land."""
    return (
        f"pod <{show(namespace)}/{show(name)}> is being bound to node <{show(node)}>: wait until "
        "it is known whether that succeeds"
    )


def pod_gated(namespace: str, name: str) -> str:
    """The pod waits for quota."""
    return f"pod <{show(namespace)}/{show(name)}> waits at its gate for quota"


def pod_ending(namespace: str, name: str) -> str:
    """The pod is being deleted."""
    return f"pod <{show(namespace)}/{show(name)}> is being deleted"


def no_room(node: str, why: str) -> str:
    """Since the filter said yes, the node took another pod, or changed."""
    return f"node <{show(node)}> does not fit any more: {show(why, most=200)}"


def refused(node: str, words: str) -> str:
    """The API server, a webhook or a policy refuses the Binding."""
    return f"the Binding to node <{show(node)}> was refused: {show(words, most=400)}"


def unknown_outcome(node: str) -> str:
    """The API server gave no answer in time."""
    return (
        f"it is not known yet whether the Binding to node <{show(node)}> succeeded: the card stays "
        "charged until it is"
    )


NODE_UNKNOWN = "node is not known to cardquota"
BY_CARD = "node gives out whole cards"
BY_MEMORY = "node gives out card memory"
MIXED = "node has pods with whole cards and pods with card memory"
NO_MEMORY = "node shares no card memory"
NO_MEMORY_ROW = f"pod asks for {v.GPU_MEMORY} and has no queue with a quota of card memory"
CARDS_UNREADABLE = f"node does not say what cards it has ({v.GPU_MEMORY}, {v.GPU_COUNT})"
BOTH_ASKED = f"pod asks for {v.GPU_MEMORY} and for whole cards: it can have only one of them"


def no_card_free(amount: int, unit: SharedUnit) -> str:
    """Every card that is large enough is too full. Pods that end would cure it."""
    return f"no single card has {amount} {unit} free"


def no_card_so_large(amount: int, unit: SharedUnit) -> str:
    """No card could hold the pod, however empty."""
    return f"no healthy card has {amount} {unit}"


def request_unreadable(problem: str) -> str:
    """What the pod asks for cannot be read."""
    return f"pod cannot be read: {show(problem, most=200)}"
