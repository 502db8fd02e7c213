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
    """What is asked."""

    kind: str = Field(
        json_schema_extra={"maxLength": LONGEST_KIND, "pattern": "^[A-Za-z][A-Za-z0-9]*$"}
    )
    """Pod, PodGroup, Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, or any other kind whose
    objects are controllers of pods."""
    name: str = Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_OBJECT_NAME})
    """Its name, in the namespace of the review."""
    api_version: str | None = constrained(maxLength=LONGEST_OBJECT_NAME)
    """Tells a Job of Volcano (batch.volcano.sh/v1alpha1) from one of Kubernetes (batch/v1). Absent:
    either."""


class AnsweredPods(WireModel):
    """Its unfinished pods that use cards or a queue."""

    running: Int64
    """On a node."""
    let_through: Int64
    """Their gates are open, and they have no node yet."""
    waiting: Int64
    """At the gate."""
    lacking: Int64
    """Pods that it wants and that do not exist."""


class AnsweredQueue(WireModel):
    """A queue that has room."""

    queue: str
    """The queue."""
    card: str
    """The card that it has room for."""
    left: Int64
    """What is left of its quota."""


class WorkloadReviewStatus(WireModel):
    """The answer."""

    kind: str
    """What was asked about."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    time: Time
    """When this was answered."""
    queue: str
    """Its queue; empty: none."""
    queue_source: str
    """What has named the queue: PodGroup, Annotation, Namespace, Configuration; Charged: it was let
    through in another one than it would get now; None."""
    queue_reason: str
    """The same in a sentence."""
    asks: list[AnsweredAmount]
    """What one pod asks for; of a group that starts whole, what all that wait ask for."""
    pods: AnsweredPods
    """How many of its pods there are."""
    state: str
    """Fits, LetThrough, Waits, Refused, Coming (it lacks pods, and the next one would not be
    refused), or Ends: it is being deleted, or over."""
    waits_for: str
    """For want of what: Quota, Order, PodGroup, Queue, Node, SchedulingGate, Scheduler, Webhook,
    Operator, Controller, Correction; empty: nothing."""
    reason: str
    """As in events; empty where there is none."""
    message: str
    """A sentence, that of its event where there is one."""
    gates: list[str] | None = None
    """Scheduling gates of others, which it waits at too."""
    place: Int64 | None = None
    """In the order of release of its queue; absent: it does not wait there."""
    place_of: Int64 | None = None
    """How many wait there."""
    before: Int64 | None = None
    """How many of those before it ask for one of its cards."""
    holders: list[AnsweredHolder] | None = None
    """Who holds these cards in its own namespace."""
    more_holders: Int64 | None = None
    """How many others hold them there."""
    held_elsewhere: list[AnsweredAmount] | None = None
    """What is held in other namespaces, and reserved."""
    fewer: list[AnsweredAmount] | None = None
    """It would fit now if it asked for at most so many of one of these."""
    other_cards: list[AnsweredAmount] | None = None
    """Other cards of its queue that have room for it, and what is left of them."""
    other_queues: list[AnsweredQueue] | None = None
    """Other queues that its namespace may use and that have room for it."""


class WorkloadReviewSchema(WireModel):
    """Asks how a workload stands, why it waits, and what would make it fit. Create it as a dry run:
    nothing is stored.
    """

    api_version: str = f"{REVIEW_GROUP}/{REVIEW_VERSION}"
    kind: str = "WorkloadReview"
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadReviewSpec
    """What is asked."""
    status: WorkloadReviewStatus
    """The answer. Never to be written by who asks."""


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
