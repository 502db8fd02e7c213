"""`cardquota top`: what each queue has, holds and waits for, wherever it is published.

In: what the operator has published of each queue. Out: lines for people, JSON for programs.
"""

from .published_queues import PublishedQueue, PublishedQueues, TopMeta, TopQueue
from .top import lines, notes
from .watched_top import WatchedQueues, fitting, follow

__all__ = [
    "PublishedQueue",
    "PublishedQueues",
    "TopMeta",
    "TopQueue",
    "WatchedQueues",
    "fitting",
    "follow",
    "lines",
    "notes",
]
