"""The totals of one queue: what is charged to it, and what it may hold (Q1-Q7, section 6).

In: amounts to add or take away, and `QueueFacts`. Out: an `Account` with a `Row` per dimension. Who
only asks takes an `AccountReader`.
"""

from .account import OUTSIDE, Account
from .account_reader import AccountReader, Borrowed
from .ignored_cards import IgnoredCards
from .published_rows import LONGEST_TEXT
from .queue_facts import QueueError, QueueFacts, check_queue, doubts_about, not_deserved
from .unadmitted_pods import UnadmittedPods

__all__ = [
    "LONGEST_TEXT",
    "OUTSIDE",
    "Account",
    "AccountReader",
    "Borrowed",
    "IgnoredCards",
    "QueueError",
    "QueueFacts",
    "UnadmittedPods",
    "check_queue",
    "doubts_about",
    "not_deserved",
]
