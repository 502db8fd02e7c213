"""Messages about workloads that shall have more replicas."""

from typing import Final

from cardquota.quota.messages import shortfall_messages, workload_messages
from cardquota.quota.verdict import Shortfall
from cardquota.quota.vocabulary import QUOTA_FREE, SCALE_CUT, Reason

from .entry import Entry, Where, say

_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_SEVEN: Final = say(shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 7, 10, 3)])

SCALE_REFUSALS: Final = (
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="Somebody scales a workload to more replicas than the queue has room for.",
        says=say(workload_messages.scale_refused, _SEVEN, "Deployment", "chat", 10, 3),
        where=(Where.SCALE, Where.RESCALE),
        rule="R1, R2",
        do="Scale it to the number that fits. An autoscaler asks again by itself.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The pods of a workload that is scaled up could never be created.",
        says=say(
            workload_messages.scale_never_fits,
            say(
                shortfall_messages.shortfalls,
                _QUEUE,
                [Shortfall(_H200, 5, 8, 3)],
                say(shortfall_messages.advice_never, [Shortfall(_H200, 5, 8, 3)]),
            ),
            "Deployment",
            "chat",
        ),
        where=(Where.SCALE, Where.RESCALE),
        rule="R1, E5",
        do="As for the pod itself.",
    ),
)

SCALE_CUTS: Final = (
    Entry(
        under=SCALE_CUT,
        when="Very many scale-ups of one namespace are asked about at the same moment.",
        says=say(workload_messages.too_many_at_once, "team"),
        where=(Where.AGAIN,),
        rule="I5",
        do="Nothing: the client tries again.",
    ),
    Entry(
        under=SCALE_CUT,
        when="An autoscaler asked for more replicas than fit, and got those that fit.",
        says=say(workload_messages.scale_granted_event, 10, 3, _SEVEN),
        where=(Where.WORKLOAD_EVENT,),
        rule="R2",
        do="Nothing: it asks again. Raise the quota, or `maxReplicas` to what the quota allows.",
    ),
    Entry(
        under=SCALE_CUT,
        when="The same, to the autoscaler itself; the sentence follows as a second Warning.",
        says=say(workload_messages.scale_granted, "Deployment", "chat", 10, 3),
        where=(Where.SCALE_WARNING,),
        rule="R2",
        do="Nothing.",
    ),
    Entry(
        under=QUOTA_FREE,
        when="Pods of a workload were refused, and there is room for them now. The write of this "
        "condition makes its controller try again at once.",
        says=say(workload_messages.woken, _QUEUE, 1),
        where=(Where.WORKLOAD_CONDITION,),
        rule="R5",
        do="Nothing. If its pods are still missing, see its events.",
    ),
)
