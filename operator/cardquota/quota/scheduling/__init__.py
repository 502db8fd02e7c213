"""Which node a pod may go to, which one is best, and which of its cards the pod gets.

In: the ledger, and a pod as kube-scheduler sends it. Out: answers for the scheduler extender, which
charge nothing.
"""
