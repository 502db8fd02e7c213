"""What people see of the ledger: the rows of a queue, the totals of the cluster, and any drift.

In: the ledger. Out: plain data for status, metrics and the command line; an independent recount,
and what differs from it (I2).
"""

from .drift import Totals
from .queue_report import QueueReport, report
