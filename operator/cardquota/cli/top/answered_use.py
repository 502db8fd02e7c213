"""What is used outside every queue, and free on nodes, as the operator answers: one question,
whatever number of pods there is.
"""

import asyncio
from typing import Final

from ...cluster.api.client import Client
from ...quota.answers.answer_forms import QueueAnswer
from ...quota.reports.cards_outside import MOST_PODS as MOST_NAMED
from ...quota.reports.cards_outside import OutsideUse
from ...quota.vocabulary import QUEUE_REVIEWS
from ..reviews.ask import ask_through
from ..reviews.no_answer import NoAnswerError
from .card_use import CardUse

_PATIENCE: Final = 2.0
"""Seconds. An operator that is there answers within some hundredths."""


async def ask_use(client: Client, *, all_cards: bool) -> CardUse | None:
    """None: nobody answers in time, the user may not ask, or, if `all_cards` are wanted, the answer
    has not all of them. Needs the right to create QueueReviews.
    """
    spec = {"queue": "", "limit": MOST_NAMED}
    try:
        async with asyncio.timeout(_PATIENCE):
            found = await ask_through(client, QueueAnswer, "QueueReview", QUEUE_REVIEWS, spec)
    except (NoAnswerError, TimeoutError):
        return None
    return None if all_cards and found.more_cards else answered_use(found)


def answered_use(found: QueueAnswer) -> CardUse:
    """The answer, as what `top` shows. The cards that are used most come first."""
    held = {card.name: card.allocated + card.inqueue for card in found.cards}
    most_first = sorted(held.items(), key=lambda row: (-row[1], row[0]))
    outside = OutsideUse(
        found.held_pods,
        {card: amount for card, amount in most_first if amount},
        tuple(f"{one.namespace}/{one.name}" for one in found.holders),
        found.more_holders,
    )
    return CardUse(outside, {card.name: card.free for card in found.cards if card.allocatable})
