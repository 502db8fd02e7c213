"""The WorkloadReview: asks about one workload, and is answered as a QueueReview is."""

from typing import Final

from pydantic import Field

from cardquota.quota.limits import LONGEST_OBJECT_NAME
from cardquota.quota.vocabulary import REVIEW_GROUP, REVIEW_VERSION, WORKLOAD_REVIEWS

from ..condition import Time
from ..constraint import constrained
from ..custom_resource import CustomResource
from ..number_field import Int64
from ..object_meta import ObjectMeta
from ..wire import WireModel
from .queue_review import AnsweredAmount, AnsweredHolder

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
