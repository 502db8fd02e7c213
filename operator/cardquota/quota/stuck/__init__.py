"""What holds quota, or waits, without anybody noticing (R7).

In: the ledger and the time. Out: one thing after the other that is stuck, in short steps, and on
demand a `StuckFinding` in words. Ages count by times that stand on API objects, so a new leader
and the command line find the same.
"""
