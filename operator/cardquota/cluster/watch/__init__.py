"""Watches: all objects of a kind, told to a sink, through every failure.

In: a client, a path and a partial struct. Out: `Reflector`, whose sink is told what was added,
changed and deleted, in order for each object, and `watched`: which kinds feed the ledger.
"""
