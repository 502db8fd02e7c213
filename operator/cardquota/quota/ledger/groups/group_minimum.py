"""What `minMember` and `minTaskMember` of a pod group may be when they are written (P8)."""

from collections.abc import Mapping

from ...limits import MIN_MEMBER, TASKS
from ...messages import group_messages, request_messages


def minimum_problem(min_member: int | None, by_task: Mapping[str, int] | None) -> str:
    """What is wrong with a group's minimum, in words; empty if nothing is.

    An absent minimum is a group that is no gang. Stored all the same, less than one is read as
    absent, and of a minimum by task nothing is read.
    """
    if min_member is not None:
        if min_member < 1:
            return group_messages.minimum_too_small(min_member)
        if min_member > MIN_MEMBER.most:
            return request_messages.beyond_limit(MIN_MEMBER, min_member, of="the group")
    if not by_task:
        return ""
    if len(by_task) > TASKS.most:
        return request_messages.beyond_limit(TASKS, len(by_task), of="the group")
    for task, minimum in by_task.items():
        if minimum < 0:
            return group_messages.task_minimum_negative(task, minimum)
    together = sum(by_task.values())
    if min_member is not None and together > min_member:
        return group_messages.task_minimums_too_large(together, min_member)
    return ""
