"""Questions to the operator, as objects. Nobody stores them.

They are created as a dry run. Our webhook answers by a patch that adds the status, and the API
server returns the object with it. The status is no subresource: the API server would take it away
again. It is required, so an object that nobody has answered cannot be stored, whatever is
installed. Its schema is that of the answer itself.
"""

import ast
import inspect
import sys
from itertools import pairwise
from typing import Annotated, Any, Final

import msgspec
from pydantic import Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from cardquota.quota.answers.answer_forms import Explanation, QueueAnswer
from cardquota.quota.limits import LONGEST_OBJECT_NAME
from cardquota.quota.objects.meta import Wire
from cardquota.quota.vocabulary import QUEUE_REVIEWS, REVIEW_GROUP, REVIEW_VERSION, WORKLOAD_REVIEWS

from .custom_resource import CustomResource, structural_of
from .fields import Count32, StoredObject, WireModel, constrained

DEFAULT_LIMIT: Final = 20
"""Holders and waiters that are told, each, unless the limit says otherwise."""
LARGEST_LIMIT: Final = 200
LONGEST_KIND: Final = 63
"""Characters; Kubernetes' own bound."""


def answer_schema(answer: type[Wire]) -> dict[str, Any]:
    """The structural schema of an answer. What stands under a field describes it."""
    raw = msgspec.json.schema(answer)
    texts = _texts(inspect.getsource(sys.modules[answer.__module__]))
    for definition in raw["$defs"].values():
        for name, node in definition["properties"].items():
            node["description"] = texts[definition["title"], name]
            if node.get("type") == "integer":
                node["format"] = "int64"
    return structural_of(raw, answer.__name__)


def _texts(source: str) -> dict[tuple[str, str], str]:
    """By class and field, the field as it is written in JSON."""
    return {
        (found.name, to_camel(ast.unparse(field.target))): ast.literal_eval(text.value)
        for found in ast.parse(source).body
        if isinstance(found, ast.ClassDef)
        for field, text in pairwise(found.body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


class QueueReviewSpec(WireModel):
    """The question."""

    queue: str = Field(json_schema_extra={"maxLength": LONGEST_OBJECT_NAME})
    """Name of the queue. Empty: ask what is used outside all queues, and what is free on nodes."""
    limit: Count32 | None = constrained(server_default=DEFAULT_LIMIT, maximum=LARGEST_LIMIT)
    """Show at most this many holders and this many waiters. The rest is only counted."""


class QueueReviewSchema(StoredObject):
    """Asks what a queue holds, who holds it, who waits, and what would fit now. Create it as a dry
    run; it is never stored.
    """

    spec: QueueReviewSpec
    """The question."""
    status: Annotated[Any, WithJsonSchema(answer_schema(QueueAnswer))]
    """The answer. Leave it out when you ask."""


QUEUE_REVIEW: Final = CustomResource(
    kind="QueueReview",
    model=QueueReviewSchema,
    plural=QUEUE_REVIEWS,
    scope="Cluster",
    group=REVIEW_GROUP,
    version=REVIEW_VERSION,
)


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


class WorkloadReviewSchema(StoredObject):
    """Asks for the state of a workload, why it waits, and where else there is room for it. Create
    it as a dry run; it is never stored.
    """

    spec: WorkloadReviewSpec
    """The question."""
    status: Annotated[Any, WithJsonSchema(answer_schema(Explanation))]
    """The answer. Leave it out when you ask."""


WORKLOAD_REVIEW: Final = CustomResource(
    kind="WorkloadReview",
    model=WorkloadReviewSchema,
    plural=WORKLOAD_REVIEWS,
    scope="Namespaced",
    group=REVIEW_GROUP,
    version=REVIEW_VERSION,
)
