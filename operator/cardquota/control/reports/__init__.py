"""What is reported of objects other than queues: nodes, namespaces, unadmitted pods, policies.

In: the ledger, and what is installed. Out: events, some at a time, and log lines.
"""
