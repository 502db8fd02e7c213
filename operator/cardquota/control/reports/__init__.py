"""What is told of other things than queues: nodes, namespaces, pods that came past us, policies.

In: the ledger, and what is installed. Out: events, some at a time, and lines in the log.
"""
