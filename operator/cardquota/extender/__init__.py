"""The scheduler extender: which node and which card a pod gets, asked by kube-scheduler.

In: its calls, over HTTPS. Out: answers from the ledger, and Bindings, which only the leader writes.
"""

from .binder import Binder
from .leader_call import LeaderCall
from .leader_client import LeaderClient
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
    "SchedulerVerbs",
    "Waker",
    "WireError",
    "bind_call",
    "filter_answer",
    "read_args",
    "read_binding",
    "read_error",
    "read_preemption",
    "scores_answer",
    "victims_answer",
]
