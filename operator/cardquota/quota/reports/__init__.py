"""What people see of the ledger: the rows of a queue, the totals of the cluster, and any drift.

In: the ledger. Out: plain data for status, metrics and the command line; a recount by other means
than the ledger's, and what differs (I2).
"""
