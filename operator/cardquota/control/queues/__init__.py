"""Status, conditions and metrics of queues: Kopf reconciles, in a thread and loop of its own.

In: reports, as messages, one slot for each queue. Out: what `kubectl get queues` shows, written at
most once per queue and second. Nothing here touches the ledger.
"""
