"""Jobs of Volcano: can one ever run that is created (V4), and what does it ask for (V3)."""

from .job_create import JobVerdict, judge_job
from .job_pods import JobPods, has_too_many_tasks, read_job
from .job_request import request_of_job

__all__ = [
    "JobPods",
    "JobVerdict",
    "has_too_many_tasks",
    "judge_job",
    "read_job",
    "request_of_job",
]
