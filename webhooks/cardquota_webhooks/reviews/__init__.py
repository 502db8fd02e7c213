"""Questions about one queue or one workload, which the answer to their review answers.

In: the create of an object that nobody stores, as a dry run. Out: a patch that adds the answer to
it. A pure function of the request and the ledger's view, on any replica.
"""

from .question import Questions
from .queue_answers import QueueAnswers
from .workload_answers import WorkloadAnswers

__all__ = [
    "Questions",
    "QueueAnswers",
    "WorkloadAnswers",
]
