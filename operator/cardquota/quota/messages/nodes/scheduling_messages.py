"""Why a pod cannot go to a node, in the words of kube-scheduler's summary.

kube-scheduler counts equal texts: `0/3 nodes are available: 2 no single card has 8138 MiB free`.
So a text says nothing of its node, and stays the same from try to try: a new text would have the
pod tried again at once, for ever.
"""

from ... import vocabulary as v
from ...card_memory.memory_shape import SharedUnit
from ...words import show

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
