"""Admission: what the API server asks before it stores an object.

In: reviews over HTTPS, and a `LedgerReader` that is asked and never charged. Out: an answer to each
within a bounded time: allowed, changed (a gate), warned or denied with the numbers.
"""

from .claims import CardlessClaims
from .controllers import KINDS
from .group_wait import MOST_WAITING, GroupWaits
from .pod_groups import PodGroupReviews
from .pods import PodReviews
from .queues import QueueReviews
from .refused_writes import RefusedWriteReviews
from .resizes import ResizeReviews
from .review import AdmissionResponse, GroupResource, Request, decode, encode
from .server import LARGEST_BODY, AdmissionServer
from .unknown_keys import key_warnings, task_key_warnings, template_key_warnings
from .visibility_wait import VisibilityWait
from .volcano_jobs import VolcanoJobReviews
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
    "GroupWaits",
    "PodGroupReviews",
    "PodReviews",
    "QueueReviews",
    "RefusedWriteReviews",
    "Request",
    "ResizeReviews",
    "VisibilityWait",
    "VolcanoJobReviews",
    "WorkloadReviews",
    "decode",
    "encode",
    "key_warnings",
    "task_key_warnings",
    "template_key_warnings",
]
