"""All nodes: which cards they have, which are free, and which of them pods pick (D7, D8, E7).

In: `NodeFacts`, and pods that are bound. Out: `NodeCache`, which can be asked for the card behind a
node's resource, for totals, for the cards on nodes that a selector picks, and for free ones.
"""
