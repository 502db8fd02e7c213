"""The domain: cards, requests, the ledger and its verdicts. Pure: no I/O, no clock, no event loop.

Nothing in this package imports anything else of ours. Amounts are whole numbers everywhere: cards,
milli-cores and bytes. The rooms, of which each imports only those below it:

    answers > release, reports > decisions > ledger > accounts > pending > nodes > pods
    > selectors > cards > objects > words, limits, amounts, messages and the verdict, beside this
    file
"""

from .amounts import (
    LARGEST,
    Charge,
    MutableAmounts,
    QuantityError,
    canonical,
    count,
    cpu_quantity,
    is_card,
    memory_quantity,
    milli,
    whole,
)
from .close_names import LONGEST, MOST_CLOSE, MOST_NAMES
from .kept_objects import KeptObjects, SizedCache
from .limits import (
    BODY,
    CONTAINERS,
    GANG_KINDS,
    JOB_TASKS,
    MIN_MEMBER,
    REQUEST_CARDS,
    REQUEST_TEXT,
    RESOURCE_ENTRIES,
    TASKS,
    TEMPLATE_TEXT,
    TOLERATIONS,
    Limit,
)
from .own_keys import (
    KEYS_OF_GROUPS,
    KEYS_OF_NAMESPACES,
    KEYS_OF_PODS,
    KEYS_OF_QUEUES,
    LABELS_OF_NAMESPACES,
    MOST_COMPARED,
    KeysOfKind,
)
from .stamp import (
    Reservation,
    Stamp,
    allocated_text,
    read_allocated,
    read_reservation,
    reservation_text,
)
from .steps import Steps, to_its_end
from .verdict import Effect, Outcome, Shortfall, Verdict, effect_of, effect_on_create
from .vocabulary import (
    ALLOCATED,
    API_GROUP,
    CARD_GIVEN,
    CARD_NAME,
    CARD_NAME_ALIAS,
    CHARGED_QUEUE,
    ENQUEUE_ADDRESS,
    GATE,
    GPU_COUNT,
    GPU_MEMORY,
    GPU_MEMORY_ASSIGNED,
    GPU_MEMORY_CARD,
    GPU_MEMORY_OF_CARD,
    GPU_PRODUCT,
    GROUP_NAME,
    HANDOVER,
    IS_MANAGED,
    LEASE,
    MANAGED,
    NAMESPACE_AUDIT,
    NAMESPACE_ENFORCED,
    NAMESPACE_MODE,
    NAMESPACE_MODES,
    OPERATOR_NAMESPACE,
    OURS_ON_PODS,
    PLACEMENT,
    QUEUE_NAME,
    QUEUE_NAME_VOLCANO_JOB,
    QUEUE_REVIEWS,
    QUOTA,
    REQUEST,
    RESERVATION,
    REVIEW_GROUP,
    REVIEW_VERSION,
    SERVICE_ACCOUNT,
    SETTLE,
    STATUS,
    SURGE,
    TERM,
    TERM_KIND,
    VERSION,
    WORKLOAD_REVIEWS,
    Mode,
    Policy,
    Reason,
)
from .words import (
    amount_text,
    lasting,
    listed,
    logged,
    memory_text,
    read_moment,
    seconds_of,
    show,
    time_text,
)
