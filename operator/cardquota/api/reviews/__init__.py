"""Questions to the operator and their answers, as objects: QueueReview and WorkloadReview."""

from .queue_review import (
    DEFAULT_LIMIT,
    LARGEST_LIMIT,
    QUEUE_REVIEW,
    AnsweredAmount,
    AnsweredHolder,
    QueueReviewSchema,
)
from .workload_review import WORKLOAD_REVIEW, WorkloadReviewSchema

__all__ = [
    "DEFAULT_LIMIT",
    "LARGEST_LIMIT",
    "QUEUE_REVIEW",
    "WORKLOAD_REVIEW",
    "AnsweredAmount",
    "AnsweredHolder",
    "QueueReviewSchema",
    "WorkloadReviewSchema",
]
