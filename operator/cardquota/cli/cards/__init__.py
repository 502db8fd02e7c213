"""`cardquota cards`: which cards there are, by what the operator itself knows.

In: nodes, queues and namespaces, of a cluster or of files. Out: a list, as text or JSON.
"""
