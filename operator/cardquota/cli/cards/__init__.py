"""`cardquota cards`: which cards there are, by the operator's own books.

In: nodes, queues and namespaces, of a cluster or of files. Out: a list, as text or JSON.
"""
