"""How many bytes are kept of a pod group (P8)."""

from typing import Final

from .group_facts import GroupFacts

_GROUP: Final = 3_600
"""Bytes of a group in a queue of its own, besides its texts: facts, state, indexes."""
_TASK: Final = 130
"""Bytes of a task besides its name."""
_CARD: Final = 200
"""Bytes of a card that it asks for, besides its name."""


def kept_group_size(facts: GroupFacts) -> int:
    """Bytes that a group takes: at least what is measured, and not twice that."""
    size = _GROUP + len(facts.key)
    size += sum(_TASK + len(task) for task in facts.tasks)
    size += sum(_CARD + 2 * len(card) for row in facts.request.cards for card in row.cards)
    size += sum(_CARD + len(name) for name, _ in facts.request.resources)
    if facts.stored is not None:
        size += len(facts.stored.judged)
    return size
