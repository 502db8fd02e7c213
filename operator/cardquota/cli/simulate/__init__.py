"""`cardquota simulate`: the same ledger, judgement and order for files, without a cluster.

In: the objects of files. Out: which pods are admitted, gated or denied, why, and the queues after.
"""

from .fake_cluster import Priorities
from .inventory import Expansion, expand
from .simulate import lines
from .simulated_nodes import SimulatedNodes, shape_of
from .simulation import Answer, Answers, PodAnswer, Simulation, WorkloadAnswer
