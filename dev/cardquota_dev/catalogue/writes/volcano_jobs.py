"""Messages when a Job of Volcano is written that could never run, or that will wait."""

from typing import Final

from cardquota.quota import limits
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.messages.queues import queue_messages
from cardquota.quota.messages.volcano import volcano_job_messages
from cardquota.quota.verdict import Shortfall
from cardquota.quota.vocabulary import REQUEST

from ..entry import Entry, Said, Where, say

_JOB: Final = "research/train"
_NAME: Final = "train"
_H200: Final = "NVIDIA-H200"
_QUEUE: Final = "research"
_UNDER: Final = "Jobs of Volcano"


def _refused(when: str, fault: Said, do: str) -> Entry:
    return Entry(
        under=_UNDER,
        when=when,
        says=say(volcano_job_messages.job_refused, _JOB, [fault]),
        where=(Where.JOB_WRITE,),
        rule="V4",
        do=do,
    )


def _warned(when: str, says: Said, do: str) -> Entry:
    return Entry(under=_UNDER, when=when, says=says, where=(Where.JOB_WARNING,), rule="V4", do=do)


_SHORT: Final = say(shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 4, 6, 3)])
_MINIMUM: Final = say(volcano_job_messages.minimum_never_fits, 4, _SHORT)

VOLCANO_JOBS: Final = (
    _refused(
        "A Job of Volcano has a task whose pods would be refused, whatever becomes free. The "
        "reason of the refusal is the pod's.",
        say(volcano_job_messages.task_never_fits, ["worker", "master"], _SHORT),
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
        say(volcano_job_messages.tasks_too_unlike, 80, limits.GANG_KINDS.most),
        "Give more tasks the same requests, or let fewer start together.",
    ),
    _warned(
        "The pods of a Job will wait for what an administrator can change: the queue is missing, "
        "closed or not open to the namespace, or a card has no row in its quota.",
        say(
            volcano_job_messages.job_pods_wait,
            _NAME,
            say(queue_messages.group_queue_not_found, _QUEUE),
        ),
        "Nothing, if an administrator will change it; or name another queue in `spec.queue`.",
    ),
    _warned(
        "A Job could never run before it was changed, as after a quota was lowered; the change "
        "makes that no worse, and is admitted.",
        say(volcano_job_messages.job_stays_wrong, _NAME, _MINIMUM),
        "As when a Job is refused.",
    ),
    _warned(
        f"`{REQUEST}` of a Job says something else than its tasks ask for.",
        say(volcano_job_messages.request_disagrees, [(_H200, 2)], 3, [(_H200, 3)], (3, 3)),
        "Make them agree: until the pods exist, the annotation counts.",
    ),
    _warned(
        "That annotation is changed on a Job that has its PodGroup.",
        say(volcano_job_messages.request_copied_once),
        "Write it on the PodGroup too, if its pods are not there yet.",
    ),
    _warned(
        "A Job of Volcano has more than is read: [the limits](rules.md#limits).",
        say(
            volcano_job_messages.job_not_looked_at,
            say(request_messages.beyond_limit, limits.JOB_TASKS, 10_000, of="the Job"),
        ),
        "Write fewer tasks, with more replicas each; or see what its pods are told.",
    ),
    _warned(
        "A task of a Job of Volcano has a `partitionPolicy`. Its members are let through in any "
        "order, and Volcano may never bind a minimum that spans two partitions.",
        say(volcano_job_messages.partitions_not_supported, "worker"),
        "Let all pods of the Job start together (`minAvailable`), or make a Job of each partition.",
    ),
    _warned(
        "A task of a Job of Volcano waits for another one, and all pods are the minimum.",
        say(volcano_job_messages.dependent_task, "worker", 4),
        "Leave the pods of that task out of `minAvailable`. Until then cards are reserved for it "
        "that it cannot use.",
    ),
    _warned(
        "A Job of Volcano has a shape that cannot be read.",
        say(
            volcano_job_messages.job_not_read,
            "Expected `object`, got `str` - at `$.spec.tasks[0].template.spec`",
        ),
        "Correct it. The installed definition of Jobs admitted it.",
    ),
)
