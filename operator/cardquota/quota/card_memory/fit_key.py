"""What decides whether a node takes a pod by memory, and why it does not, as one number.

The names of thousands of nodes are looked up for every pod. So one lookup must say both, and the
most and the least of all must be found without a look at each.
"""

from typing import Final

from ..quantity import LARGEST
from .memory_node import MemoryNode

_LIKENESS_BITS: Final = 8
_REASON_BITS: Final = _LIKENESS_BITS + LARGEST.bit_length()
_REASON: Final = (1 << _REASON_BITS) - 1
_NONE: Final = -1
UNHEARD: Final = _NONE << _REASON_BITS
"""The key of a node that nothing is known of. No other node has this one."""


def fit_key(node: MemoryNode) -> int:
    """Above, the most memory that one pod can get, -1 if none may come. Below, a number that is the
    same for nodes that refuse a pod by memory for the same reason.
    """
    most = node.best if node.takes_memory else _NONE
    # One more, so that it is never 0, as the reason of UNHEARD is.
    reason = (node.likeness | node.largest << _LIKENESS_BITS) + 1
    return (most << _REASON_BITS) + reason


def least_key(need: int) -> int:
    """A node takes a pod that needs this much memory if its key is not below this one."""
    return need << _REASON_BITS


def reason_of(key: int) -> int:
    """The lower part of a key."""
    return key & _REASON
