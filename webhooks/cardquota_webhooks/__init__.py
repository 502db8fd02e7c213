"""Admission: what the API server asks before it stores an object.

In: reviews over HTTPS, and a `LedgerReader` that is asked and never charged. Out: an answer to each
within a bounded time: allowed, changed (a gate), warned or denied with the numbers.
"""

from .keys import key_warnings, task_key_warnings, template_key_warnings
from .pod_groups import PodGroupReviews
from .pod_judge import MOST_WAITING, CardlessClaims, VisibilityWait
from .pods import PodReviews
from .questions import Questions, QueueAnswers, WorkloadAnswers
from .queues import QueueReviews
from .resizes import ResizeReviews
from .review import AdmissionResponse, GroupResource, Request, Reviewer, decode
from .scale_targets import ScaleTargets
from .scales import ScaleReviews
from .server import LARGEST_BODY, AdmissionServer
from .volcano_jobs import RefusedWriteReviews, VolcanoJobReviews
from .workload_objects import KINDS
from .workloads import WORKLOADS, WorkloadReviews

__all__ = [
    "KINDS",
    "LARGEST_BODY",
    "MOST_WAITING",
    "WORKLOADS",
    "AdmissionResponse",
    "AdmissionServer",
    "CardlessClaims",
    "GroupResource",
    "PodGroupReviews",
    "PodReviews",
    "Questions",
    "QueueAnswers",
    "QueueReviews",
    "RefusedWriteReviews",
    "Request",
    "ResizeReviews",
    "Reviewer",
    "ScaleReviews",
    "ScaleTargets",
    "VisibilityWait",
    "VolcanoJobReviews",
    "WorkloadAnswers",
    "WorkloadReviews",
    "decode",
    "key_warnings",
    "task_key_warnings",
    "template_key_warnings",
]
