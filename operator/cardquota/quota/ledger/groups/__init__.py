"""Pod groups: what is read of them, what they hold and reserve, and what their minimum is.

In: facts about a group, and its members as the ledger charges them. Out: a `PodGroupState` for each
group. It judges nothing, and knows nothing of other groups.
"""

from .group_facts import (
    NO_REQUEST,
    AskedCards,
    GroupFacts,
    GroupRequest,
    NamespaceFacts,
    job_of,
    minimum_problem,
    namespace_facts,
    queue_said,
)
from .pod_group_state import PodGroupState, Stage
from .stored_group import (
    FOREIGN,
    LONGEST,
    NO_CONDITION,
    NO_QUOTA_CONDITION,
    QUOTA_CONDITION,
    StoredGroup,
    pointer,
)
