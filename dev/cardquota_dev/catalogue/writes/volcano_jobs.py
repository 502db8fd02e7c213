"""Messages when a Job of Volcano is created that could never run."""

from typing import Final

from cardquota.quota import limits
from cardquota.quota.messages import request_messages, shortfall_messages, workload_messages
from cardquota.quota.verdict import Shortfall

from ..entry import Entry, Said, Where, say

_JOB: Final = "research/train"
_H200: Final = "NVIDIA-H200"
_QUEUE: Final = "research"
_UNDER: Final = "Jobs of Volcano"


def _refused(when: str, fault: Said, do: str) -> Entry:
    return Entry(
        under=_UNDER,
        when=when,
        says=say(workload_messages.job_refused, _JOB, fault),
        where=(Where.JOB_WRITE,),
        rule="V4",
        do=do,
    )


def _warned(when: str, says: Said, do: str) -> Entry:
    return Entry(under=_UNDER, when=when, says=says, where=(Where.JOB_WARNING,), rule="V4", do=do)


_SHORT: Final = say(shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 4, 6, 3)])
_MINIMUM: Final = say(workload_messages.minimum_never_fits, 4, _SHORT)

VOLCANO_JOBS: Final = (
    _refused(
        "A Job of Volcano has a task whose pods would be refused, whatever becomes free. The "
        "reason of the refusal is the pod's.",
        say(workload_messages.task_never_fits, "worker", _SHORT),
        "What the pod's own sentence says, in the template of the task. Volcano would end such a "
        "Job after 15 refused pods.",
    ),
    _refused(
        "The pods of a Job of Volcano that start together ask for more than the whole quota.",
        _MINIMUM,
        "Lower `minAvailable` of the Job or of its tasks, or ask the queue's owner for a higher "
        "quota.",
    ),
    _refused(
        "The pods of a Job of Volcano that start together differ too much.",
        say(workload_messages.tasks_too_unlike, 80, limits.GANG_KINDS.most),
        "Give more tasks the same requests, or let fewer start together.",
    ),
    _warned(
        "A Job of Volcano has more than is read: [the limits](rules.md#limits).",
        say(
            workload_messages.job_not_looked_at,
            say(request_messages.beyond_limit, limits.JOB_TASKS, 10_000, of="the Job"),
        ),
        "Write fewer tasks, with more replicas each; or see what its pods are told.",
    ),
    _warned(
        "A task of a Job of Volcano has a `partitionPolicy`. Its members are released in any "
        "order, and Volcano may never bind a minimum that spans two partitions.",
        say(workload_messages.partitions_not_supported, "worker"),
        "Let all pods of the Job start together (`minAvailable`), or make a Job of each partition.",
    ),
    _warned(
        "A task of a Job of Volcano waits for another one, and all pods are the minimum.",
        say(workload_messages.dependent_task, "worker", 4),
        "Leave the pods of that task out of `minAvailable`. Until then cards are reserved for it "
        "that it cannot use.",
    ),
    _warned(
        "A Job of Volcano has a shape that cannot be read.",
        say(
            workload_messages.job_not_read,
            "Expected `object`, got `str` - at `$.spec.tasks[0].template.spec`",
        ),
        "Correct it. The installed definition of Jobs admitted it.",
    ),
)
