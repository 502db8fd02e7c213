"""`cardquota check`: what an administrator should look at, found with the user's own rights."""

from .bounded_section import MOST_SHOWN
from .check import lines, show_sections
from .checked_cluster import CheckedCluster, read_cluster
from .drift_section import PAUSE, Difference, differences, lasting_differences
from .finding import Finding, FindingKind
from .namespace_keys import wrong_keys
from .section import CheckSection
from .timeless_finding import timeless

__all__ = [
    "MOST_SHOWN",
    "PAUSE",
    "CheckSection",
    "CheckedCluster",
    "Difference",
    "Finding",
    "FindingKind",
    "differences",
    "lasting_differences",
    "lines",
    "read_cluster",
    "show_sections",
    "timeless",
    "wrong_keys",
]
