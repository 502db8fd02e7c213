"""cardquota: quotas per accelerator card model for Kubernetes.

One ledger, four doors. Everything that happens to pods, nodes, queues and pod groups flows
into one in-memory ledger (`cardquota.quota`); admission, release, bind and status ask it and
tell it. Start reading at `cardquota.quota.ledger.ledger`, or at `cardquota.cli.run` to see how the
doors are hung.
"""

__version__ = "0.1.0"
