"""`cardquota top`: what each queue has, holds and waits for, wherever it is published.

In: the queues of a cluster, and the pods outside them. Out: lines for people, JSON for programs.
"""
