"""Questions to the operator: an object is created as a dry run, and comes back with the answer.

In: what is asked. Out: the answer, or why there is none, in one line.
"""

from .no_answer import NoAnswerError

__all__ = [
    "NoAnswerError",
]
