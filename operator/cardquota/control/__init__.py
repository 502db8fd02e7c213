"""What the leader changes in the cluster. The ledger decides; here the decisions take effect.

In: the ledger, the client, and a term. Out, by room: `release` opens gates and writes reservations,
`queues` writes the status of Queues. `reports` and `installation` tell users and administrators
what is wrong, and `workload_waker` wakes controllers whose pods were refused. `LeaderWork`
begins and ends them with the term, and `Leadership` the term with the Lease.
"""

from .fence import Fence, FenceFault
from .installation import EVERY, InstallationCheck
from .leader_work import Leadership, LeaderWork, QueueViews, eviction_writer, term_writers
from .workload_waker import WorkloadWaker
