"""The memory of single cards that several pods share: which card of a node has how much room.

In: what nodes say of their cards, and which card each pod holds. Out: where a pod fits, which card
it gets, and what of all that cannot be read. Amounts are in the node's own unit, MiB or GiB.
"""
