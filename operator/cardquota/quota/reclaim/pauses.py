"""For which queues and cards nothing ends for a while, by what stands on those who wait (L5)."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..ledger.ledger_reader import LedgerReader
from .plan import PAUSE
from .progress import waiting_one

MOST_IN_VAIN: Final = 3
"""So many of a queue may wait that did not start in the room made for them, in an hour."""

_CLOCKS_DIFFER: Final = 60
"""Seconds by which the clock of who wrote it may be ahead."""


class InVain(NamedTuple):
    """One that did not start in the room that was to be made for it, and still waits."""

    queue: str
    card: str
    until: float
    """Seconds since 1970: until then nothing more ends for it."""


def in_vain(ledger: LedgerReader, now: float) -> dict[str, InVain]:
    """All of these, by the key of who waits. `now`: seconds since 1970. Costs by the plans."""
    found = {}
    for key, plan in ledger.plans.items():
        lately = now - PAUSE < plan.gave_up <= now + _CLOCKS_DIFFER
        one = waiting_one(ledger, key, plan.card) if lately else None
        if one is not None:
            found[key] = InVain(one.queue, plan.card, plan.gave_up + PAUSE)
    return found


def paused_until(those: Iterable[InVain], queue: str, card: str) -> float | None:
    """Until when nothing ends for others of a queue and card: they may be of the same kind. None:
    it does.
    """
    untils = sorted(one.until for one in those if (one.queue, one.card) == (queue, card))
    return untils[-MOST_IN_VAIN] if len(untils) >= MOST_IN_VAIN else None
