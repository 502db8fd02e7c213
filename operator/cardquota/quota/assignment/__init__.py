"""Whether claims with a choice of cards fit together: exact assignment (T3).

In: claims (the usable cards, and an amount) and the room of each card. Out: whether there is a card
for each claim, and which. Knows neither pods nor queues.
"""

from .assignment import Assignment
from .claim import Claim, claim_of
from .flexible_claims import Others
from .on_the_way import NOBODY, OnTheWay
from .packing import CARDS_A_STEP, MOST_BRANCHES, MOST_STEPS, Places, Steps
from .placements import MANY

__all__ = [
    "CARDS_A_STEP",
    "MANY",
    "MOST_BRANCHES",
    "MOST_STEPS",
    "NOBODY",
    "Assignment",
    "Claim",
    "OnTheWay",
    "Others",
    "Places",
    "Steps",
    "claim_of",
]
