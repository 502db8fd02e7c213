"""Questions to the operator and their answers, as objects. Nobody stores them.

They are created as a dry run. Our webhook answers by a patch that adds the status, and the API
server returns the object with it. The status is no subresource: the API server would take it away
again. It is required, so an object that nobody has answered cannot be stored, whatever is
installed.
"""

from typing import Final

from pydantic import Field

from cardquota.quota.limits import LONGEST_OBJECT_NAME
from cardquota.quota.vocabulary import QUEUE_REVIEWS, REVIEW_GROUP, REVIEW_VERSION, WORKLOAD_REVIEWS

from .custom_resource import CustomResource
from .fields import Count32, Int64, constrained
from .queue_status import Time
from .wire import ObjectMeta, WireModel

DEFAULT_LIMIT: Final = 20
"""Holders and waiters that are told, each, unless the limit says otherwise."""
LARGEST_LIMIT: Final = 200


class QueueReviewSpec(WireModel):
    """The question."""

    queue: str = Field(json_schema_extra={"maxLength": LONGEST_OBJECT_NAME})
    """Name of the queue. Empty: ask what is used outside all queues, and what is free on nodes."""
    limit: Count32 | None = constrained(server_default=DEFAULT_LIMIT, maximum=LARGEST_LIMIT)
    """Show at most this many holders and this many waiters. The rest is only counted."""


class AnsweredAmount(WireModel):
    """A number of cards of one name."""

    name: str
    """The card, or a choice of cards as A|B."""
    amount: Int64
    """Number of cards."""


class AnsweredCard(WireModel):
    """One card of the queue. Numbers are whole cards."""

    name: str
    """Name of the card, as in the quota."""
    quota: Int64
    """How many cards the queue may hold."""
    allocated: Int64
    """Held by pods that have a node and have not finished."""
    inqueue: Int64
    """Held by pods that were let through and have no node yet, or reserved for pod groups."""
    elastic: Int64
    """The part of allocated beyond the minimum of the pod groups."""
    requested: Int64
    """Requested by all pods that have not finished, including waiting pods."""
    left: Int64
    """What is left of the quota. 0 if the queue is over it."""
    allocatable: Int64
    """What the nodes of the cluster offer, in use or not."""
    free: Int64
    """Free on nodes that accept pods, minus the cards of pods that were let through already."""
    most_on_node: Int64
    """The most that a single one of these nodes has free."""
    fits: Int64
    """How many would fit now: the smaller of left and free. 0 if the queue takes no new work."""


class AnsweredResource(WireModel):
    """Cpu or memory of the queue, as Kubernetes quantities."""

    name: str
    """cpu or memory."""
    allocated: str
    """Held by pods that have a node and have not finished."""
    inqueue: str
    """Held by pods that were let through and have no node yet, or reserved for pod groups."""
    requested: str
    """Requested by all pods that have not finished, including waiting pods."""
    quota: str | None = None
    """The most that the queue may hold; absent if it is not limited."""
    left: str | None = None
    """What is left of the quota."""


class AnsweredHolder(WireModel):
    """A workload that holds cards, or a pod group with a reservation."""

    kind: str
    """Deployment, Job, ...; Pod for a pod without a controller."""
    namespace: str
    """Namespace of the object."""
    name: str
    """Name of the object."""
    pods: Int64
    """Number of pods that are let through or have a node; 0 for a reservation."""
    cards: list[AnsweredAmount]
    """Cards that it holds."""
    since: str
    """When the first of these pods got its node, or was created. Empty for a reservation."""


class AnsweredWaiter(WireModel):
    """A pod that waits, or a group that starts together."""

    place: Int64
    """Its place in the order of release; 1 is the first."""
    kind: str
    """Pod or PodGroup."""
    namespace: str
    """Namespace of the object."""
    name: str
    """Name of the object."""
    pods: Int64
    """Number of pods that wait; 0 for a group whose pods do not exist yet."""
    asks: list[AnsweredAmount]
    """Cards that these pods request together."""
    since: str
    """When it was created."""
    reason: str
    """Why it waits, in one word. Empty if it has room and is not let through yet."""
    message: str
    """Why it waits, as a sentence."""


class QueueReviewStatus(WireModel):
    """The answer."""

    queue: str
    """Name of the queue."""
    state: str
    """Open, Closed or Closing."""
    fifo: bool
    """Whether no pod passes another one that waits for the same card."""
    time: Time
    """When the operator gave this answer."""
    cards: list[AnsweredCard]
    """One row for each card that has a quota, is held or is requested. If there are more than 100,
    those that are requested most."""
    more_cards: Int64
    """Number of cards that are not listed."""
    resources: list[AnsweredResource]
    """Cpu and memory of the queue."""
    held_pods: Int64
    """Number of pods that are let through or have a node."""
    holders: list[AnsweredHolder]
    """Holders of cards, those with the most cards first."""
    more_holders: Int64
    """Number of holders that are not listed."""
    waiting_pods: Int64
    """Number of pods that wait."""
    waiters: list[AnsweredWaiter]
    """Waiting pods and groups, in the order of release."""
    more_waiters: Int64
    """Number of waiting groups and single pods that are not listed."""
    quota_problem: str | None = None
    """Why the quota cannot be read. An older quota is in force."""
    refused_writes: Int64 | None = None
    """Without a queue name: Bindings and groups of pods that were refused to users who are not in
    volcano.accounts, as the replica that answers has counted them since its start."""


class QueueReviewSchema(WireModel):
    """Asks what a queue holds, who holds it, who waits, and what would fit now. Create it as a dry
    run; it is never stored.
    """

    api_version: str = f"{REVIEW_GROUP}/{REVIEW_VERSION}"
    kind: str = "QueueReview"
    metadata: ObjectMeta = ObjectMeta()
    spec: QueueReviewSpec
    """The question."""
    status: QueueReviewStatus
    """The answer. Leave it out when you ask."""


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


LONGEST_KIND: Final = 63
"""Characters; Kubernetes' own bound."""


class WorkloadReviewSpec(WireModel):
    """The question."""

    kind: str = Field(
        json_schema_extra={"maxLength": LONGEST_KIND, "pattern": "^[A-Za-z][A-Za-z0-9]*$"}
    )
    """Pod, PodGroup, Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, or any other kind of
    controller of pods."""
    name: str = Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_OBJECT_NAME})
    """Name of the workload, in the namespace of the review."""
    api_version: str | None = constrained(maxLength=LONGEST_OBJECT_NAME)
    """Which Job is meant: of Volcano (batch.volcano.sh/v1alpha1) or of Kubernetes (batch/v1).
    Absent: either."""


class AnsweredPods(WireModel):
    """Numbers of unfinished pods of the workload that use cards or a queue."""

    running: Int64
    """Pods that have a node."""
    let_through: Int64
    """Pods whose gates are open and that have no node yet."""
    waiting: Int64
    """Pods that wait at the gate."""
    lacking: Int64
    """Pods that the workload wants and that do not exist."""


class AnsweredQueue(WireModel):
    """A queue that has room."""

    queue: str
    """Name of the queue."""
    card: str
    """The card that the queue has room for."""
    left: Int64
    """What is left of the quota for this card."""


class WorkloadReviewStatus(WireModel):
    """The answer."""

    kind: str
    """Kind of the workload."""
    namespace: str
    """Namespace of the workload."""
    name: str
    """Name of the workload."""
    time: Time
    """When the operator gave this answer."""
    queue: str
    """Queue of the workload. Empty if it has none."""
    asks: list[AnsweredAmount]
    """Cards that one pod requests. For a group that starts together: cards that all its waiting
    pods request."""
    pods: AnsweredPods
    """Numbers of its pods."""
    state: str
    """Fits, LetThrough, Waits, Refused, Coming (it lacks pods, and the next one would not be
    refused) or Ends (it is being deleted, or has finished)."""
    reason: str
    """The reason, in one word as in events. Empty if there is none."""
    message: str
    """The reason as a sentence: that of its event, if there is one."""
    place: Int64 | None = None
    """Its place in the order of release of its queue. Absent if it does not wait there."""
    place_of: Int64 | None = None
    """How many wait in its queue."""
    holders: list[AnsweredHolder] | None = None
    """Who holds its cards in the namespace of the workload."""
    more_holders: Int64 | None = None
    """Number of holders in this namespace that are not listed."""
    held_elsewhere: list[AnsweredAmount] | None = None
    """These cards, as far as they are held in other namespaces or reserved in any namespace."""
    other_cards: list[AnsweredAmount] | None = None
    """Other cards of its queue with room for it, and what is left of each."""
    other_queues: list[AnsweredQueue] | None = None
    """Other queues that its namespace may use, with room for it."""


class WorkloadReviewSchema(WireModel):
    """Asks for the state of a workload, why it waits, and where else there is room for it. Create
    it as a dry run; it is never stored.
    """

    api_version: str = f"{REVIEW_GROUP}/{REVIEW_VERSION}"
    kind: str = "WorkloadReview"
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadReviewSpec
    """The question."""
    status: WorkloadReviewStatus
    """The answer. Leave it out when you ask."""


WORKLOAD_REVIEW: Final = CustomResource(
    kind="WorkloadReview",
    model=WorkloadReviewSchema,
    plural=WORKLOAD_REVIEWS,
    short_names=(),
    scope="Namespaced",
    status_subresource=False,
    columns=(),
    group=REVIEW_GROUP,
    version=REVIEW_VERSION,
)
