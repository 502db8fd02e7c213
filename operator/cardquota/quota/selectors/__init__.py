"""What a pod says of the nodes that it may use: selector, affinity, tolerations (P3, P5).

In: the spec of a pod, labels and taints. Out: `Selector`, which can be asked which cards it leaves
and be narrowed to some, `Tolerations`, and an index of which selectors a node's labels meet.
"""
