"""Whose gate opens next: queues in turn, and within a queue one candidate after the other (E6).

In: the ledger. Out: `QueueOrder`, and `ReleasePass`, which gives one opening after the other to
whoever charges it, and whom to tell why he waits.
"""
