"""Decisions on groups: enqueued (E1), started whole (E2), refused when written (E5); and on Jobs of
Volcano, which make them (V3, V4).
"""

from .enqueue_vote import (
    EnqueueRequest,
    Vote,
    enqueue_request,
    request_of_job,
    vote_without_judgement,
)
from .gang_judgement import (
    GangFault,
    alike_members,
    fault_of_members,
    fault_of_workload,
    judge_gang,
)
from .group_judgement import EnqueueVerdict, judge_enqueue, judge_group
from .group_write import judge_group_write
from .volcano_job import JobPods, has_too_many_tasks, judge_job, read_job

__all__ = [
    "EnqueueRequest",
    "EnqueueVerdict",
    "GangFault",
    "JobPods",
    "Vote",
    "alike_members",
    "enqueue_request",
    "fault_of_members",
    "fault_of_workload",
    "has_too_many_tasks",
    "judge_enqueue",
    "judge_gang",
    "judge_group",
    "judge_group_write",
    "judge_job",
    "read_job",
    "request_of_job",
    "vote_without_judgement",
]
