"""The scheduler extender: which node and which card a pod gets, asked by kube-scheduler.

In: its calls, over HTTPS. Out: answers from the ledger, and Bindings, which only the leader writes.
"""
