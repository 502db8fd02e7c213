"""cardquota: quotas per accelerator card model for Kubernetes.

One ledger, and what asks and tells it. Everything that happens to pods, nodes, queues and pod
groups flows into one in-memory ledger (`cardquota.quota`); admission, release and status ask it and
tell it. Start reading at `cardquota.quota.ledger`, or at `cardquota.runtime.run` to see how all of
it is put together.
"""

__version__ = "0.1.0"
