"""What schedulers ask: kube-scheduler for the node and card of a pod, Volcano's for groups (V3).

In: kube-scheduler's calls, over HTTPS, and `POST /volcano/jobEnqueueable` of Volcano's plugin
`extender`. Out: answers from the ledger; Bindings, which only the leader writes; a vote, and what
is asked for the group from now on.
"""

from .binder import Binder
from .enqueue_server import LARGEST_ASK, EnqueueServer
from .enqueue_votes import SHARE, EnqueueVotes, JobRequests, WaitBudget
from .enqueue_wire import (
    ENQUEUE_PATH,
    MOST_ASK_ELEMENTS,
    EnqueueAsk,
    enqueue_call,
    read_enqueue_ask,
    read_vote,
    vote_answer,
)
from .leader_client import NOT_AGAIN, LeaderCall, LeaderClient, LeaderVotes
from .node_filter import NodeFit, fit_nodes, victims_by_node
from .node_ranking import BEST, KEPT, NodeRanking
from .server import LARGEST_BODY, ExtenderServer
from .waker import Waker
from .wire import (
    MOST_NODES,
    BindArgs,
    ExtenderArgs,
    MetaVictims,
    WireError,
    bind_call,
    filter_answer,
    read_args,
    read_binding,
    read_preemption,
    victims_answer,
)
