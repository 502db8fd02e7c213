"""What the operator writes on a pod when it opens its gate, and on a group before that.

From then on a pod is charged by its stamp, whatever happens to namespace, group or node. The
reservation on a pod group is the write-ahead mark of a gang (T2).
"""

import json
from typing import Any, Final, NamedTuple

from .amounts import (
    LARGEST,
    Charge,
    MutableAmounts,
    QuantityError,
    add_amounts,
    canonical,
    cpu_quantity,
    is_card,
    memory_quantity,
    milli,
    whole,
)
from .kept_objects import SizedCache
from .limits import ALLOCATED_TEXT, RESERVATION_TEXT, RESOURCES
from .vocabulary import CPU, MEMORY


class Stamp(NamedTuple):
    """A pod's charge as written on it: the queue, the cards, and the term that decided it."""

    queue: str
    cards: Charge
    term: str


class Reservation(NamedTuple):
    """What a group holds from when it is enqueued, or starts, until its members run (T2)."""

    queue: str
    term: str
    amounts: Charge
    request: str = ""
    """The mark of what the group asked for when it was enqueued, before its pods were there (E1).
    Empty: its members start, and what they ask for was judged (E2)."""


_OR: Final = "|"
"""In no card's name."""
_LONGEST_MARK: Final = 64
"""Characters of the mark of a request."""
_READ: Final = SizedCache[str, Charge]()


def allocated_text(cards: Charge) -> str:
    """The value of `card.allocated`: `{"NVIDIA-H200": 2}`."""
    return json.dumps(dict(cards), separators=(", ", ": "))


def read_allocated(text: str) -> Charge | None:
    """The cards of a `card.allocated`, or None if we cannot have written the text."""
    known = _READ.get(text)
    if known is not None:
        return known
    found = _object(text, ALLOCATED_TEXT.most)
    if found is None or len(found) > RESOURCES.most:
        return None
    if not all(_OR not in name and _is_amount(value) for name, value in found.items()):
        return None
    return _READ.put(text, tuple(sorted(found.items())), 2 * len(text))


def reservation_text(reservation: Reservation) -> str:
    """The value of `card.reservation`. The policies search for the term in exactly this form."""
    amounts = dict(reservation.amounts)
    found = {
        "term": reservation.term,
        "queue": reservation.queue,
        "cards": {k: amount for k, amount in amounts.items() if is_card(k)},
        CPU: cpu_quantity(amounts.get(CPU, 0)),
        MEMORY: memory_quantity(amounts.get(MEMORY, 0)),
    }
    if reservation.request:
        found["request"] = reservation.request
    return json.dumps(found, separators=(",", ":"))


def read_reservation(text: str) -> Reservation | None:
    """The inverse of `reservation_text`, or None if we cannot have written the text.

    An earlier version wrote a choice of cards as `A|B`: that counts for the first of them (T3).
    """
    found = _object(text, RESERVATION_TEXT.most)
    if found is None:
        return None
    cards, queue, term = found.get("cards"), found.get("queue"), found.get("term")
    if not (isinstance(cards, dict) and isinstance(queue, str) and isinstance(term, str)):
        return None
    request = found.get("request", "")
    if not isinstance(request, str) or len(request) > _LONGEST_MARK:
        return None
    if not all(_is_amount(value) for value in cards.values()):
        return None
    decided: MutableAmounts = {}
    add_amounts(decided, ((name.partition(_OR)[0], amount) for name, amount in cards.items()))
    try:
        amounts = {**decided, CPU: milli(found.get(CPU, 0)), MEMORY: whole(found.get(MEMORY, 0))}
    except (QuantityError, TypeError):
        return None
    if not all(0 <= amount <= LARGEST for amount in amounts.values()):
        return None
    return Reservation(queue, term, canonical(amounts), request)


def _object(text: str, longest: int) -> dict[str, Any] | None:
    if len(text) > longest:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_amount(value: object) -> bool:
    """Larger numbers than Kubernetes' own are not ours, and metrics could not show them."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
