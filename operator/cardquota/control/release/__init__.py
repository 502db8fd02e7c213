"""What the leader does with gates: opens them, gang by gang, and keeps its writes correct.

In: the ledger, a term, and writers that respect it. Out: `GateReleaser`. Every await comes after
the charge. A charge is taken back only if the gate certainly stays shut.
"""
