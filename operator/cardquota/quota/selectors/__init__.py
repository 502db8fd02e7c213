"""What a pod says about the nodes that it may use: selector, affinity, tolerations (P3, P5).

In: the spec of a pod, labels and taints. Out: `Selector`, which tells which cards it leaves and can
be narrowed to some of them, `Tolerations`, and which of many nodes a selector picks.
"""

from .card_requirement import CardRequirement, bound_of, compares, whole_number
from .selector import (
    HOST_NAME,
    NODE_NAME,
    LabelledNode,
    PodToleration,
    Selector,
    Tolerance,
    decode,
    encode,
    memory_asked_for,
    picked,
    taints_of,
    tolerates,
    tolerations_of,
)
