"""All that can be done in a queue now, in one go: for the simulator and for tests."""

from collections.abc import Iterator

from ..ledger.ledger import Ledger
from .cycle import release_cycle
from .refusals import Refusal, next_refusals
from .release_judge import Opening
from .starvation import Starvation


def openings(
    ledger: Ledger, queue: str, starvation: Starvation | None = None
) -> Iterator[Opening | Refusal]:
    """What can be opened in a queue now, in order, and who is to be told why he waits.

    `starvation`: what wait is too long; None: none is.
    """
    account = ledger.account(queue)
    if account is None:
        return
    for found in release_cycle(ledger, account, starvation=starvation):
        if found is not None:
            yield found
        while (refusals := next_refusals(ledger, account)) is not None:
            yield from refusals
