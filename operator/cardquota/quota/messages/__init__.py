"""Every sentence that people read, in one room (section 9, I4).

Amounts are whole cards, cores and Gi. A refusal names the queue, the card, the amounts and what to
do. Texts contain no number that changes from one try to the next, except those of the sentence.

Of requests: `shortfall_messages`, `request_messages`, `queue_messages`. At the gate:
`gate_messages`, `gang_messages`, `binding_messages`. Of what is written: `group_messages`,
`queue_write_messages`, `workload_messages`. Of what is ended: `reclaim_messages`. For the
administrator: `report_messages`. To questions: `answer_messages`. Parts of them: `phrases`.
"""

from .request_messages import beyond_limit
from .shortfall_messages import audited
