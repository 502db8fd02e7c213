"""All nodes: their cards, their free cards, and which of them pods pick (D7, D8, E7).

In: `NodeFacts`, and bound pods. Out: `NodeCache`, which tells the card behind a node's resource,
totals, the cards on nodes that a selector picks, and free cards.
"""

from .node_cache import NodeCache
from .node_facts import NodeFacts
