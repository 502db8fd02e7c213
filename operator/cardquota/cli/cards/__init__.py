"""`cardquota cards`: the existing cards, as the operator itself sees them.

In: nodes, queues and namespaces, of a cluster or of files. Out: a list, as text or JSON.
"""
