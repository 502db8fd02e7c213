"""Decisions on groups: enqueued (E1), started whole (E2), refused when written (E5); and on Jobs of
Volcano, which make them (V3, V4).
"""

from .enqueue_judgement import EnqueueVerdict, judge_enqueue
from .enqueue_vote import EnqueueRequest, Vote, enqueue_request, vote_without_judgement
from .gang_judgement import alike_members, judge_gang
from .gang_minimum import GangFault, fault_of_members, fault_of_workload
from .group_judgement import judge_group
from .group_write import judge_group_write
from .job_create import JobVerdict, judge_job
from .job_pods import JobPods, has_too_many_tasks, read_job, request_of_job

__all__ = [
    "EnqueueRequest",
    "EnqueueVerdict",
    "GangFault",
    "JobPods",
    "JobVerdict",
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
