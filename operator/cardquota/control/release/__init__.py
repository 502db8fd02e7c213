"""What the leader does with gates: opens them, gang by gang, and keeps what is written right.

In: the ledger, a term, and writers that keep it. Out: `GateReleaser`. All that is awaited happens
after the charge; a charge is taken back only if the gate certainly stays shut.
"""
