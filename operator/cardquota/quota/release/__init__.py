"""Whose gate opens next: queues in turn, and within a queue one candidate after the other (E6).

In: the ledger. Out: `QueueOrder`, and `ReleasePass`, which yields one opening after the other for
the caller to charge. `next_refusals`: which pods are to be told why they wait.
"""
