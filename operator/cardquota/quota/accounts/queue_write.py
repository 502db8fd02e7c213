"""Card resources in the specification of a queue: they are no card quota (Q2)."""

from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from ..cards.quota_text import MOST_ROWS
from ..objects.queue import QueueSpec
from ..words import show


class IgnoredCards(NamedTuple):
    """An amount of a resource name that counts cards, as it is written."""

    field: str
    """`capability`, `deserved` or `guarantee.resource`."""
    resource: str
    amount: str


_LONGEST: Final = 40
"""Characters of an amount."""


def ignored_cards(spec: QueueSpec, counts: Callable[[str], bool]) -> tuple[IgnoredCards, ...]:
    """Those of `spec`, in the order in which they stand there; of each field the first 1,000 names
    are looked at. `counts`: whether a resource name counts cards.
    """
    guarantee = spec.guarantee.resource if spec.guarantee else None
    fields = (
        ("capability", spec.capability),
        ("deserved", spec.deserved),
        ("guarantee.resource", guarantee),
    )
    return tuple(
        IgnoredCards(field, resource, show(str(amount), most=_LONGEST))
        for field, amounts in fields
        for resource, amount in islice((amounts or {}).items(), MOST_ROWS)
        if counts(resource)
    )
