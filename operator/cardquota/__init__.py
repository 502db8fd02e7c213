"""cardquota: quotas per accelerator card model for Kubernetes.

One ledger, and the parts that query and update it. Everything that happens to pods, nodes, queues
and pod groups flows into one in-memory ledger (`cardquota.quota`); admission, release and status
use it. Start reading at `cardquota.quota.ledger`, or at `cardquota.runtime.run` to see how it is
assembled.
"""

__version__ = "0.1.0"
