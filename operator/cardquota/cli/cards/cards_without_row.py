"""Cards whose resource name is in no vendor row (D6)."""

from collections.abc import Iterable, Iterator

from ...quota.ledger.ledger import Ledger
from ...quota.vocabulary import GPU_MEMORY


def cards_without_row(ledger: Ledger, cards: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Of these cards those for which the API server does not recognise pods without annotations,
    each with its resource name.
    """
    for card in cards:
        resource = ledger.catalog.resource(card)
        if resource is None or resource == GPU_MEMORY:  # that is recognised by itself (B10)
            continue
        if ledger.vendors.owner(resource) is None:
            yield card, resource
