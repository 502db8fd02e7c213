"""The scheduler extender: which node and which card a pod gets, asked by kube-scheduler.

In: its calls, over HTTPS. Out: answers from the ledger, and Bindings, which only the leader writes.
"""

from .binder import Binder
from .leader_call import LeaderCall
from .leader_client import LeaderClient
from .node_filter import NodeFit, fit_nodes, why_no_memory
from .node_ranking import BEST, KEPT, NodeRanking, NodeScore
from .preemption import victims_by_node
from .server import LARGEST_BODY, ExtenderServer
from .verbs import SchedulerVerbs
from .waker import Waker
from .wire import (
    MOST_NODES,
    BindArgs,
    ExtenderArgs,
    FilterResult,
    MetaVictims,
    WireError,
    bind_call,
    filter_answer,
    read_args,
    read_binding,
    read_error,
    read_preemption,
    scores_answer,
    victims_answer,
)

__all__ = [
    "BEST",
    "KEPT",
    "LARGEST_BODY",
    "MOST_NODES",
    "BindArgs",
    "Binder",
    "ExtenderArgs",
    "ExtenderServer",
    "FilterResult",
    "LeaderCall",
    "LeaderClient",
    "MetaVictims",
    "NodeFit",
    "NodeRanking",
    "NodeScore",
    "SchedulerVerbs",
    "Waker",
    "WireError",
    "bind_call",
    "filter_answer",
    "fit_nodes",
    "read_args",
    "read_binding",
    "read_error",
    "read_preemption",
    "scores_answer",
    "victims_answer",
    "victims_by_node",
    "why_no_memory",
]
