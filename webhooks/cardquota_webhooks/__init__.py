"""Admission: what the API server asks before it stores an object.

In: reviews over HTTPS, and a `LedgerReader` that is asked and never charged. Out: an answer to each
within a bounded time: allowed, changed (a gate), warned or denied with the numbers.
"""

from .fitting import WorkloadRoom
from .pod_groups import PodGroupReviews
from .pods import MOST_WAITING, CardlessClaims, PodReviews, ResizeReviews, VisibilityWait
from .questions import QuestionReviews, Questions
from .queues import QueueReviews
from .review import (
    AdmissionResponse,
    GroupResource,
    Request,
    Reviewer,
    decode,
    key_warnings,
    of_tasks,
    of_template,
)
from .scales import ScaleReviews, ScaleTargets
from .server import LARGEST_BODY, AdmissionServer
from .volcano_jobs import RefusedWriteReviews, VolcanoJobReviews
from .workload_objects import KINDS
from .workloads import WorkloadReviews
