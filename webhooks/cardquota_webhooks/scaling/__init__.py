"""Scale-ups: what `*/scale` is answered (R1-R4).

In: a review of a Scale, and the ledger's view of the workload that is scaled. Out: allowed, a
smaller number for an autoscaler, a Warning, or a refusal with the number that fits.
"""

from .scale_targets import ScaleTargets
from .scales import ScaleReviews

__all__ = [
    "ScaleReviews",
    "ScaleTargets",
]
