"""What the leader changes in the cluster. The ledger decides; here the decisions take effect.

In: the ledger, the client, and a term. Out, by room: `release` opens gates and writes reservations,
`queues` writes the status of Queues, `reports` tells users and administrators what is wrong.
`Leadership` begins and ends them with the term.
"""

from .fence import Fence, FenceFault
from .later import Later, Timer, in_loop_later
from .leadership import Leadership

__all__ = [
    "Fence",
    "FenceFault",
    "Later",
    "Leadership",
    "Timer",
    "in_loop_later",
]
