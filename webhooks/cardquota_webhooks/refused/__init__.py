"""What the policies refuse to a Volcano that is not in `volcano.accounts`, noticed and told.

In: reviews of just those writes. Out: events on pods, a metric, the log, what is to be put right.
"""
