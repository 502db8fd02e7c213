"""`cardquota simulate`: the same ledger, judgement and order for files, without a cluster.

In: the objects of files. Out: which pods are admitted, gated or denied, why, and the queues after.
"""
