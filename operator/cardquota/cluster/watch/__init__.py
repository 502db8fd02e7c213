"""Watches: all objects of a kind, delivered to a sink, through every failure.

In: a client, a path and a partial struct. Out: `Reflector`, which tells its sink what was added,
changed and deleted, in order for each object, and `watched`: the kinds that feed the ledger.
"""
