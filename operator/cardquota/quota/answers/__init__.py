"""What is told to whoever asks about one queue, or about one workload.

In: the ledger, and what is asked. Out: one answer, complete in itself and bounded, worked out in
short steps: between two of them the ledger may change. Nothing is kept, and nothing is charged.
"""

from .answer_forms import CardAmount, QueueAnswer
from .asked_workload import AskedWorkload
from .queue_answer import queue_answer
