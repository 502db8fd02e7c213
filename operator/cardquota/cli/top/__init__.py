"""`cardquota top`: what each queue has, holds and waits for, wherever it is published.

In: the queues of a cluster, and the pods outside them. Out: lines for people, JSON for programs.
"""

from .answered_use import ask_use
from .card_use import MOST_PODS, CardUse
from .published_queues import PublishedQueue, PublishedQueues, TopMeta, TopQueue
from .top import lines, notes
from .watched_top import WatchedQueues, fitting, follow

__all__ = [
    "MOST_PODS",
    "CardUse",
    "PublishedQueue",
    "PublishedQueues",
    "TopMeta",
    "TopQueue",
    "WatchedQueues",
    "ask_use",
    "fitting",
    "follow",
    "lines",
    "notes",
]
