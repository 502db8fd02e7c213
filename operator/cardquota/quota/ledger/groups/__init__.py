"""Pod groups: what is read of them, what they hold and reserve, and what their minimum is.

In: facts about a group, and its members as the ledger charges them. Out: a `PodGroupState` for each
group. It judges nothing, and knows nothing of other groups.
"""

from .group_condition import FOREIGN, NO_CONDITION, NO_QUOTA_CONDITION, QUOTA_CONDITION
from .group_facts import GroupFacts, NamespaceFacts, namespace_facts
from .group_minimum import minimum_problem
from .group_request import NO_REQUEST, AskedCards, GroupRequest
from .job_groups import job_of
from .made_for_pods import queue_said
from .pod_group_state import PodGroupState
from .stored_group import LONGEST, StoredGroup, pointer

__all__ = [
    "FOREIGN",
    "LONGEST",
    "NO_CONDITION",
    "NO_QUOTA_CONDITION",
    "NO_REQUEST",
    "QUOTA_CONDITION",
    "AskedCards",
    "GroupFacts",
    "GroupRequest",
    "NamespaceFacts",
    "PodGroupState",
    "StoredGroup",
    "job_of",
    "minimum_problem",
    "namespace_facts",
    "pointer",
    "queue_said",
]
