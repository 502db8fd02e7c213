"""Watches: all objects of a kind, delivered to a sink, through every failure.

In: a client, a path and a partial struct. Out: `Reflector`, which tells its sink what was added,
changed and deleted, in order for each object, and `watched`: the kinds that feed the ledger.
"""

from .delivery import (
    BrokenStreamError,
    ChangeNotifier,
    Delivery,
    IdentityMeta,
    LineSplitter,
    ObjectIndex,
    StreamError,
    decode_identity,
    revision_of,
)
from .feed import AT_ONCE, CatchingUp, LeftOutReads, ledger_settings, watched_kinds
from .listing import ClaimLookup, QueueLookup, Unreadable, list_objects
from .optional_reflector import OptionalReflector
from .reflector import Reflector
