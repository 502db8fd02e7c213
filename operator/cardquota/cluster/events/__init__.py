"""Events on objects, for people: one for each change of the reason, written in the background.

In: an object, a reason, a sentence. Out: `EventRecorder`, which never blocks and is bounded.
"""

from .event import MESSAGE_BYTES, Event, EventQueue, ObjectReference, cut
from .events import EventRecorder

__all__ = [
    "MESSAGE_BYTES",
    "Event",
    "EventQueue",
    "EventRecorder",
    "ObjectReference",
    "cut",
]
