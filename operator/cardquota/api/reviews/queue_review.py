"""The QueueReview: asks about one queue, and is answered at once. Nobody stores it.

It is created as a dry run. Our webhook answers by a patch that adds the status, and the API server
returns the object with it. The status is no subresource: the API server would take it away again.
It is required, so an object that nobody has answered cannot be stored, whatever is installed.
"""

from typing import Final

from pydantic import Field

from cardquota.quota.limits import LONGEST_OBJECT_NAME
from cardquota.quota.vocabulary import QUEUE_REVIEWS, REVIEW_GROUP, REVIEW_VERSION

from ..condition import Time
from ..constraint import constrained
from ..custom_resource import CustomResource
from ..number_field import Count32, Int64
from ..object_meta import ObjectMeta
from ..wire import WireModel

DEFAULT_LIMIT: Final = 20
"""Holders and waiters that are told, each, unless the limit says otherwise."""
LARGEST_LIMIT: Final = 200


class QueueReviewSpec(WireModel):
    """What is asked."""

    queue: str = Field(json_schema_extra={"maxLength": LONGEST_OBJECT_NAME})
    """The queue that is asked about; empty: what is used outside every queue, and free on nodes."""
    limit: Count32 | None = constrained(server_default=DEFAULT_LIMIT, maximum=LARGEST_LIMIT)
    """How many holders, and how many waiters, are told; the others are counted."""


class AnsweredAmount(WireModel):
    """So many cards of one name."""

    name: str
    """The card, or a choice of cards as A|B."""
    amount: Int64
    """Cards."""


class AnsweredCard(WireModel):
    """One card of the queue, in cards."""

    name: str
    """The card, as it is named in the quota."""
    quota: Int64
    """How many the queue may hold."""
    allocated: Int64
    """Held by pods that are on a node and have not finished."""
    inqueue: Int64
    """Let through or reserved, and not yet on a node."""
    elastic: Int64
    """The part of allocated that is beyond the minimum of its pod groups."""
    requested: Int64
    """Asked for by all pods that have not finished, those that wait included."""
    left: Int64
    """What is left of the quota; 0 also where the queue is over it."""
    allocatable: Int64
    """What nodes of the cluster offer, in use or not."""
    free: Int64
    """Free on nodes that take pods, less what pods will take that are let through already."""
    most_on_node: Int64
    """The most that one of these nodes has free."""
    fits: Int64
    """What would fit now: the smaller of left and free; 0 if the queue takes nothing new."""


class AnsweredResource(WireModel):
    """Cpu or memory of the queue, as quantities."""

    name: str
    """cpu or memory."""
    allocated: str
    """Held by pods that are on a node and have not finished."""
    inqueue: str
    """Let through or reserved, and not yet on a node."""
    requested: str
    """Asked for by all pods that have not finished, those that wait included."""
    quota: str | None = None
    """The most that the queue may hold; absent where it is not limited."""
    left: str | None = None
    """What is left of that."""


class AnsweredHolder(WireModel):
    """Who holds something: a workload, or a pod group with a reservation."""

    kind: str
    """Deployment, Job, ...; Pod for a pod that nothing has made."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    pods: Int64
    """Pods that are let through or on a node; 0 of a reservation."""
    cards: list[AnsweredAmount]
    """What they hold."""
    since: str
    """When the first of these pods got its node, or was created; empty of a reservation."""


class AnsweredWaiter(WireModel):
    """Who waits: a pod, or a group that starts together."""

    place: Int64
    """In the order of release; 1 is the first."""
    kind: str
    """Pod or PodGroup."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    pods: Int64
    """Pods that wait; 0 of a group whose pods are still to come."""
    asks: list[AnsweredAmount]
    """What they ask for together."""
    since: str
    """When it was created."""
    reason: str
    """Why it waits, one word; empty if it has room and is not let through yet."""
    message: str
    """Why it waits, a sentence."""


class QueueReviewStatus(WireModel):
    """The answer."""

    queue: str
    """The queue."""
    state: str
    """Open, Closed or Closing."""
    fifo: bool
    """Whether no pod passes another one that waits for the same card."""
    time: Time
    """When this was answered."""
    cards: list[AnsweredCard]
    """One row per card with a quota, or that is held or asked for; of more than 100 those that are
    asked for most."""
    more_cards: Int64
    """How many other cards there are."""
    resources: list[AnsweredResource]
    """Cpu and memory."""
    held_pods: Int64
    """Pods that are let through or on a node."""
    holders: list[AnsweredHolder]
    """Who holds the most cards, first."""
    more_holders: Int64
    """How many others hold something."""
    waiting_pods: Int64
    """Pods that wait."""
    waiters: list[AnsweredWaiter]
    """Who waits, in the order of release."""
    more_waiters: Int64
    """How many others wait: groups, and pods that go by themselves."""
    quota_problem: str | None = None
    """Why the quota cannot be read, so that an older one is in force."""


class QueueReviewSchema(WireModel):
    """Asks what a queue holds, who holds it, who waits, and what would fit now. Create it as a dry
    run: nothing is stored.
    """

    api_version: str = f"{REVIEW_GROUP}/{REVIEW_VERSION}"
    kind: str = "QueueReview"
    metadata: ObjectMeta = ObjectMeta()
    spec: QueueReviewSpec
    """What is asked."""
    status: QueueReviewStatus
    """The answer. Never to be written by who asks."""


QUEUE_REVIEW: Final = CustomResource(
    kind="QueueReview",
    model=QueueReviewSchema,
    plural=QUEUE_REVIEWS,
    short_names=(),
    scope="Cluster",
    status_subresource=False,
    columns=(),
    group=REVIEW_GROUP,
    version=REVIEW_VERSION,
)
