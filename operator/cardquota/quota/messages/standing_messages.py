"""How a pod or a workload stands, where no quota keeps it waiting."""

from collections.abc import Sequence

from ..amounts import Amount
from ..words import counted, listed, show
from .phrases import held_text


def runs_on(node: str, held: Sequence[Amount]) -> str:
    """A pod is on a node."""
    return f"it fits: it is on node <{show(node)}> and holds {held_text(held)}"


def let_through(held: Sequence[Amount]) -> str:
    """Its gate is open, and nothing of ours keeps it from a node."""
    return (
        f"it fits: its gate is open and it holds {held_text(held)}; it waits for a node, and the "
        "scheduler's event FailedScheduling says why it has none (`kubectl describe pod`)"
    )


def no_node_free(card: str, amount: int, most: int) -> str:
    """No node has as many of its card free."""
    return (
        f"it fits the quota and its gate is open, but no node that takes pods has <{amount}> of "
        f"<{show(card)}> free, the most is <{most}>: wait until others end, or ask for a node"
    )


def other_gates_shut(gates: Sequence[str]) -> str:
    """Our gate is open, and there are others."""
    return (
        f"it fits the quota; it waits at scheduling gates of others: {listed(gates)}; whoever set "
        "them opens them"
    )


def being_deleted() -> str:
    """It waits for nothing any more."""
    return "it is being deleted"


def all_pods_there(running: int, let_by: int) -> str:
    """A workload, or a group, has all pods that it wants. `let_by`: those without a node yet."""
    rest = f", {counted(let_by, 'pod')} let through and not yet on a node" if let_by else ""
    return f"it fits: {counted(running, 'pod')} on nodes{rest}, and none waits for quota"


def group_reserved(held: Sequence[Amount]) -> str:
    """A group of which nothing is there, and for which something is reserved (E1)."""
    return f"it fits: {held_text(held)} is reserved for it, and it waits for its pods"


def group_without_pods() -> str:
    """A group of which nothing is there, and which asks for nothing before its pods."""
    return "none of its pods is there yet, and it asks for nothing before they are"


def wants_no_pods() -> str:
    """It is scaled to zero, suspended or over."""
    return "it wants no pods, so it waits for nothing"


def no_such_workload(kind: str, namespace: str, name: str) -> str:
    """Nothing of this name concerns quotas."""
    return (
        f"{show(kind)} <{show(namespace)}/{show(name)}> is not known here: it does not exist, has "
        "ended or is suspended, or its pods name no queue and no card and ask for none"
    )
