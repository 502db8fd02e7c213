"""Who leads: a Lease, an explicit term for each acquisition, and an explicit end.

In: a client that is used for nothing else. Out: `Elector`, how much time is left, what one leader
leaves to the next, and `settle_and_catch_up`, after which a new one may decide.
"""
