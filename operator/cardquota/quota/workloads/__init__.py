"""Workloads: what makes the pods, how many it wants, and from which template.

Nothing is charged here: what a queue has room for follows from pods alone.
"""

from .live_holdings import REPLICA_SET, UpdatePart
from .workload_cache import WorkloadCache
from .workload_facts import WorkloadFacts, pod_of

__all__ = [
    "REPLICA_SET",
    "UpdatePart",
    "WorkloadCache",
    "WorkloadFacts",
    "pod_of",
]
