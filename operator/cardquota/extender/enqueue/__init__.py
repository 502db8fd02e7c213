"""Volcano's question which pod groups to enqueue, and our vote (V3).

In: `POST /volcano/jobEnqueueable` of the plugin `extender` of Volcano's scheduler. Out: a number,
and what is asked for the group from now on, in the ledger.
"""

from .enqueue_answer import EnqueueAnswerError, read_vote, vote_answer
from .enqueue_ask import (
    MOST_ELEMENTS,
    PATH,
    EnqueueAsk,
    EnqueueAskError,
    enqueue_call,
    read_enqueue_ask,
)
from .enqueue_server import LARGEST_BODY, EnqueueServer
from .enqueue_votes import EnqueueVotes
from .job_requests import JobRequests
from .leader_votes import NOT_AGAIN, LeaderVotes
from .wait_budget import SHARE, WaitBudget

__all__ = [
    "LARGEST_BODY",
    "MOST_ELEMENTS",
    "NOT_AGAIN",
    "PATH",
    "SHARE",
    "EnqueueAnswerError",
    "EnqueueAsk",
    "EnqueueAskError",
    "EnqueueServer",
    "EnqueueVotes",
    "JobRequests",
    "LeaderVotes",
    "WaitBudget",
    "enqueue_call",
    "read_enqueue_ask",
    "read_vote",
    "vote_answer",
]
