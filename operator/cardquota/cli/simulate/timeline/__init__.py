"""`cardquota simulate --timeline`: a trace of jobs that come and end, in virtual time.

In: the objects of files, and a trace, read or generated. Out: how long jobs wait, who never starts
and why, how much of each card is held, and a picture of it. What is let through, and in which
order, `Simulation` decides with the operator's own ledger and release.
"""
