"""One pod: what is kept of it, what it asks for, and its state (P1-P8).

In: a pod from the API server. Out: `PodFacts` (read once, bounded), `PodRequest` (the cards it may
use and how many, for a given quota), `PodRecord` (what the ledger holds of it).
"""

from .card_alias import alias_warning, card_problem, card_text
from .charge_state import ChargeState
from .oversized_pod import oversized_totals
from .pod_defaults import PodDefaults
from .pod_facts import PodFacts, State
from .pod_record import PodRecord, SortKey
from .pod_request import CardChoice, InvalidRequest, PodRequest, invalid_request
from .pod_total import PodTotals, pod_totals
from .reading import Reading, Readings, read

__all__ = [
    "CardChoice",
    "ChargeState",
    "InvalidRequest",
    "PodDefaults",
    "PodFacts",
    "PodRecord",
    "PodRequest",
    "PodTotals",
    "Reading",
    "Readings",
    "SortKey",
    "State",
    "alias_warning",
    "card_problem",
    "card_text",
    "invalid_request",
    "oversized_totals",
    "pod_totals",
    "read",
]
