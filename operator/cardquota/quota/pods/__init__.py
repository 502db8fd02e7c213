"""One pod: what is kept of it, what it asks for, and its state (P1-P8).

In: a pod from the API server. Out: `PodFacts` (read once, bounded), `PodRequest` (the cards it may
use and how many, for a given quota), `PodRecord` (what the ledger holds of it).
"""

from .owner_kinds import BATCH_KINDS, POLICY_BY_OWNER, SERVICE_KINDS
from .pod_defaults import PodDefaults
from .pod_facts import PodFacts, State
from .pod_record import ChargeState, PodRecord, SortKey
from .pod_request import InvalidRequest, PodRequest, Reading, Readings, read
from .pod_total import PodTotals, oversized_totals, pod_totals
from .queue_pods import REPLICA_SET, HeldCards, PodMaker, WorkloadUsage
from .workload_cache import WorkloadCache
from .workload_facts import WorkloadFacts, pod_of
