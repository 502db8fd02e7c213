"""Messages when a PodGroup is written that could never start, or that runs."""

from typing import Final

from cardquota.quota import limits
from cardquota.quota.messages import group_messages, request_messages
from cardquota.quota.vocabulary import REQUEST, Reason

from ..entry import Entry, Said, Where, say
from ..reports import WARNINGS
from .queue_writes import FORBIDDEN

_QUEUE: Final = "research"
_GROUP: Final = "research/train"
_H200: Final = "NVIDIA-H200"
_GPU: Final = "nvidia.com/gpu"
_SLICE: Final = "NVIDIA-H200/mig-1g.18gb-mixed"


def _bad(when: str, asked: list[tuple[str, int]], problem: Said, rule: str, do: str) -> Entry:
    return Entry(
        under=Reason.INVALID_CARD,
        when=when,
        says=say(request_messages.invalid_request, _QUEUE, asked, problem, of_group=True),
        where=(Where.GROUP_WRITE,),
        rule=rule,
        do=do,
    )


BAD_GROUPS: Final = (
    _bad(
        "What the annotation `card.request` of a PodGroup asks for cannot be read.",
        [],
        say(
            group_messages.request_unreadable,
            f"the annotation {REQUEST} cannot be read: the amount of <{_H200}> is 1.5, not a whole "
            "number",
        ),
        "E5, P8",
        'Write a JSON object of whole numbers above 0, such as `{"NVIDIA-H200": 2}`.',
    ),
    _bad(
        "A PodGroup asks for cards of several resource names: in one choice, or in two rows. The "
        "resource name of a card that no node has may be unknown; the form of its name tells.",
        [(_H200, 2), (_SLICE, 1)],
        say(group_messages.mixed_resources, (_H200, _GPU), (_SLICE, "nvidia.com/mig-1g.18gb")),
        "P2",
        "Ask for cards of one kind. Pods that use another kind need a group of their own.",
    ),
)


def _refused(when: str, problem: Said, do: str) -> Entry:
    return Entry(
        under=FORBIDDEN,
        when=when,
        says=say(group_messages.group_refused, _GROUP, problem),
        where=(Where.GROUP_WRITE,),
        rule="P8",
        do=do,
    )


MINIMUMS: Final = (
    _refused(
        "The minimum of a PodGroup is none, or negative.",
        say(group_messages.minimum_too_small, 0),
        "Write 1 or more, or leave it out: then its pods start one by one.",
    ),
    _refused(
        "There is more in the minimum of a PodGroup than is read: [the limits](rules.md#limits).",
        say(request_messages.beyond_limit, limits.MIN_MEMBER, 2_000_000, of="the group"),
        "Write fewer.",
    ),
    _refused(
        "The PodGroups that hold nothing take as much of the operator's memory as they may: "
        "[the sums](rules.md#sums).",
        say(request_messages.too_much_kept, limits.IDLE_GROUPS_OF_ONE, 25_166_000, of="the group"),
        "Delete PodGroups of this namespace that hold nothing.",
    ),
    _refused(
        "The minimum of one task is negative.",
        say(group_messages.task_minimum_negative, "worker", -1),
        "Write 0 or more, or leave the task out.",
    ),
    _refused(
        "The tasks of a PodGroup need more pods than the group.",
        say(group_messages.task_minimums_too_large, 6, 4),
        "Raise `spec.minMember`, or lower some of `spec.minTaskMember`.",
    ),
)


def _warning(when: str, says: Said, rule: str, do: str) -> Entry:
    return Entry(
        under=WARNINGS, when=when, says=says, where=(Where.GROUP_WARNING,), rule=rule, do=do
    )


GROUP_WARNINGS: Final = (
    Entry(
        under=WARNINGS,
        when="The pods that a gang has can never start it, by what they ask for. It is said when "
        "the PodGroup is written and pods wait for it; and when a workload that makes its pods "
        "is written. Then it begins with the workload's name, and a second Warning says what the "
        "minimum is short of. Nothing is refused: the minimum or the quota may be changed, and "
        "pods that ask for less may come.",
        says=say(group_messages.gang_never_starts, "lab/train", "vision", 4, 3),
        where=(Where.GROUP_WARNING, Where.WORKLOAD),
        rule="E5",
        do="Lower `spec.minMember`, or ask the queue's owner for more quota. Nothing if other pods "
        "of the group are still to come that ask for less.",
    ),
    _warning(
        "A PodGroup names a PriorityClass that begins with `system-`, or that is not in "
        "`release.groupPriorityClasses`.",
        say(group_messages.priority_class_not_counted, "system-node-critical"),
        "E6",
        "Nothing, if its pods name the class that they may use: theirs counts once they are there.",
    ),
    _warning(
        "`spec.minResources` of a PodGroup without `card.request` has more of a card's resource "
        "than its queue has quota for, of all its cards of that resource together.",
        say(group_messages.minimum_never_fits, "vision", _GPU, 16, 8),
        "E5",
        "Ask for less, or ask the queue's owner for more quota.",
    ),
    _warning(
        "`spec.minResources` of a PodGroup has another number of cards than its `card.request`.",
        say(group_messages.minimum_disagrees, _GPU, 4, 2),
        "E1",
        "Write the same number, or leave cards out of `spec.minResources`.",
    ),
    _warning(
        "A PodGroup of which pods were released gets another queue.",
        say(group_messages.group_moved, "vision"),
        "E10",
        "Nothing; or delete the pods that are to be charged to the new queue.",
    ),
    _warning(
        "The same, and something is reserved for the group in the queue before.",
        say(group_messages.group_reservation_ends, _QUEUE),
        "T2",
        "Nothing: pods that are still to start are judged in the new queue.",
    ),
    _warning(
        "A PodGroup of which pods were released gets another queue or another `minMember`, and "
        "more pods are needed to reach that.",
        say(group_messages.group_goes_on, 2, 3),
        "E2, T2",
        "Nothing; or lower `minMember`, so that others need not wait for each other.",
    ),
    _warning(
        "The same, where its minimum is reached, or is still reserved.",
        say(group_messages.group_goes_on, 4, 0),
        "E2, T2",
        "Nothing.",
    ),
)
