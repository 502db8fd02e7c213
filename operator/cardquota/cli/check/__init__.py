"""`cardquota check`: what an administrator should look at, found with the user's own rights."""

from .check import show_sections
from .checked_cluster import CheckedCluster, read_cluster, wrong_keys
from .section import MOST_SHOWN, CheckSection, Finding, FindingKind, lines
from .usage_sections import PAUSE, Difference, differences, lasting_differences
