"""Does a request fit its queue's quota, on which card, and what is said if not? (E2, E7)"""

from .availabilities import MOST_SELECTORS, Availabilities
from .borrowing import is_surplus, with_borrowing
from .quota_check import QuotaCheck

__all__ = [
    "MOST_SELECTORS",
    "Availabilities",
    "QuotaCheck",
    "is_surplus",
    "with_borrowing",
]
