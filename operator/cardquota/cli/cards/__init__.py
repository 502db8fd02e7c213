"""`cardquota cards`: the existing cards, as the operator itself sees them.

In: nodes, queues and namespaces, of a cluster or of files. Out: a list, as text or JSON.
"""

from .card_list import CardCount, CardLine, CardList
from .card_sources import from_cluster

__all__ = [
    "CardCount",
    "CardLine",
    "CardList",
    "from_cluster",
]
