"""Watches: all objects of a kind, delivered to a sink, through every failure.

In: a client, a path and a partial struct. Out: `Reflector`, which tells its sink what was added,
changed and deleted, in order for each object, and `watched`: the kinds that feed the ledger.
"""

from .catching_up import CatchingUp
from .change_notifier import ChangeNotifier
from .delivery import Delivery
from .event_reader import BrokenStreamError, EventReader
from .feed import watched_kinds
from .left_out_reads import LeftOutReads
from .listing import Unreadable, list_objects
from .object_index import ObjectIndex
from .optional_reflector import OptionalReflector
from .overdue_reads import AT_ONCE, OverdueReads
from .progress import Progress
from .reflector import Reflector
from .resume_policy import ResumePolicy, StreamError

__all__ = [
    "AT_ONCE",
    "BrokenStreamError",
    "CatchingUp",
    "ChangeNotifier",
    "Delivery",
    "EventReader",
    "LeftOutReads",
    "ObjectIndex",
    "OptionalReflector",
    "OverdueReads",
    "Progress",
    "Reflector",
    "ResumePolicy",
    "StreamError",
    "Unreadable",
    "list_objects",
    "watched_kinds",
]
