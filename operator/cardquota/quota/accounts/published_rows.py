"""What the annotation `volcano.sh/card.status` of a queue says: our status, where Volcano's
definition of Queues has no fields for it.
"""

from typing import Final

import msgspec

from ..cards.card import LONGEST_NAME
from ..limits import RESOURCE_TEXT
from ..objects.queue import Queue, QueueStatus, QueueStatusCard
from ..quantity import LARGEST

LONGEST_TEXT: Final = 98_304
"""Bytes. With as much for a quota, and that again in what kubectl last applied, an object's
annotations have room for it."""
_DECODER: Final = msgspec.json.Decoder(QueueStatus)


def own_status(queue: Queue) -> QueueStatus:
    """What we have published of a queue, wherever that is. Never raises: an annotation that cannot
    be read says nothing, nor does a row that we cannot have written. What the status says comes
    first.
    """
    if queue.status.cards:
        return queue.status
    notes = queue.metadata.annotations
    text = notes.status if notes is not None else None
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        return queue.status
    try:
        found = _DECODER.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return queue.status
    found.cards = tuple(filter(_can_be_ours, found.cards or ()))
    return found


def _can_be_ours(row: QueueStatusCard) -> bool:
    """Whether it is within the bounds that the definition of Queues would keep."""
    named = len(row.name) <= LONGEST_NAME and len(row.resource or "") <= RESOURCE_TEXT.most
    return named and 0 <= row.quota <= LARGEST
