"""The totals of one queue: what is charged to it, and what it may hold (Q1-Q7, section 6).

In: amounts to add or take away, and `QueueFacts`. Out: an `Account` with a `Row` per dimension. Who
only asks takes an `AccountReader`.
"""

from .account import OUTSIDE, Account, AccountReader, Borrowed
from .queue_facts import LONGEST_TEXT, QueueError, QueueFacts
from .wildcards import fits, is_pattern
