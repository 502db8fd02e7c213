"""`cardquota simulate`: the same ledger, judgement and order over files, without a cluster.

In: the objects of files. Out: who is admitted, gated or denied, why, and the queues afterwards.
"""
