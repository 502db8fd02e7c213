"""Does what a Job says in `card.request` agree with what its pods ask for? (V4)"""

from collections import Counter
from collections.abc import Sequence

from ...assignment.assignment import Assignment
from ...assignment.claim import claim_of
from ...ledger.groups.group_request import AskedCards
from ...messages.volcano import volcano_job_messages
from ...stamp import choice_text
from .job_minimum import JobKind, least_and_most


def request_disagreement(
    said: Sequence[AskedCards], kinds: Sequence[JobKind], more: int, *, together: int
) -> str:
    """A Warning if no choice of pods that start together asks for these cards; else empty.

    `more`: as for `minimum_fault`. `together`: how many pods start together. Where Volcano may
    choose which pods start, only the number of cards is compared.
    """
    least, most = least_and_most(kinds, more, lambda request: request.amount)
    number = sum(row.number for row in said)
    if least <= number <= most and (more or _agree(said, kinds)):
        return ""
    asked = Counter[str]()
    for kind in kinds:
        if kind.request.amount:
            asked[choice_text(kind.request.cards)] += kind.sure * kind.request.amount
    return volcano_job_messages.request_disagrees(
        [("|".join(row.cards), row.number) for row in said],
        together,
        [] if more else [(card, amount) for card, amount in asked.items() if amount],
        (least, most),
    )


def _agree(said: Sequence[AskedCards], kinds: Sequence[JobKind]) -> bool:
    """Whether each card that the pods ask for can be counted in a row of its own."""
    rows = {str(index): row for index, row in enumerate(said)}
    room = Assignment(lambda name: rows[name].number)
    with room.one_question():
        for kind in kinds:
            number = kind.sure * kind.request.amount
            cards = {*kind.request.cards}
            names = tuple(n for n, row in rows.items() if not cards.isdisjoint(row.cards))
            if number and not names:
                return False
            if number and room.place_many(claim_of(names, 1), number) < number:
                return False
    return True
