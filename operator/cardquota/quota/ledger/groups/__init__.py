"""Pod groups: what is read of them, what they hold and reserve, and what their minimum is.

In: facts about a group, and its members as the ledger charges them. Out: a `PodGroupState` for each
group. It judges nothing, and knows nothing of other groups.
"""
