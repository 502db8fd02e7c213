"""What is told of other things than queues: nodes, namespaces, unadmitted pods, policies.

In: the ledger, and what is installed. Out: events, some at a time, and lines in the log.
"""
