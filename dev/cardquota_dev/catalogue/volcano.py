"""Messages about Volcano beside us."""

from typing import Final

from cardquota.quota.messages import report_messages
from cardquota.quota.messages.volcano import volcano_messages
from cardquota.quota.vocabulary import (
    OTHER_SCHEDULER,
    VOLCANO_UNKNOWN,
    Condition,
    RefusedWrite,
)

from .entry import Entry, Where, say

_SCHEDULER: Final = "system:serviceaccount:batch:volcano-scheduler"
_CONTROLLERS: Final = "system:serviceaccount:batch:volcano-controllers"
_DO: Final = (
    "As it says, if it is Volcano. If not, whoever it is should leave these annotations out."
)

VOLCANO: Final = (
    Entry(
        under=VOLCANO_UNKNOWN,
        when="A user who is not in `volcano.accounts` binds a pod and repeats its annotations.",
        says=say(volcano_messages.binding_refused, _SCHEDULER),
        where=(Where.EVENT, Where.CHECK_ONLY),
        rule="V1",
        do=_DO,
    ),
    Entry(
        under=VOLCANO_UNKNOWN,
        when="Such a user gives a group to a pod that is past its gate.",
        says=say(volcano_messages.group_refused, _CONTROLLERS),
        where=(Where.EVENT, Where.CHECK_ONLY),
        rule="V1",
        do=_DO,
    ),
    Entry(
        under=VOLCANO_UNKNOWN,
        when="A replica was asked about such Bindings in the last ten minutes.",
        says=say(volcano_messages.strangers_bind, _SCHEDULER, 12),
        where=(Where.READY,),
        rule="V1",
        do=_DO,
    ),
    Entry(
        under=VOLCANO_UNKNOWN,
        when="The same of groups.",
        says=say(volcano_messages.strangers_group, _CONTROLLERS, 1),
        where=(Where.READY,),
        rule="V1",
        do=_DO,
    ),
    Entry(
        under=VOLCANO_UNKNOWN,
        when="`True`, beside Volcano: pods of the queue were refused that in the last ten minutes.",
        says=say(
            volcano_messages.strangers_of_queue,
            [
                say(
                    volcano_messages.stranger_of_queue,
                    RefusedWrite.BINDING,
                    _SCHEDULER,
                    20,
                    more=True,
                ),
                say(
                    volcano_messages.stranger_of_queue,
                    RefusedWrite.GROUP,
                    _CONTROLLERS,
                    3,
                    more=False,
                ),
            ],
        ),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="V1",
        do=_DO,
    ),
    Entry(
        under=VOLCANO_UNKNOWN,
        when="Where an event had the condition's sentence: it is over.",
        says=say(report_messages.condition_over, Condition.VOLCANO_UNKNOWN),
        where=(Where.QUEUE_EVENT,),
        rule="V1",
        do="Nothing.",
    ),
    Entry(
        under=OTHER_SCHEDULER,
        when="At the start of a replica with `scheduler: standalone`: it ends with this line.",
        says=say(volcano_messages.other_scheduler_at_start, "vc-scheduler"),
        where=(Where.LOG,),
        rule="V6",
        do="As it says. Until then pods are refused only where no replica answers.",
    ),
    Entry(
        under=OTHER_SCHEDULER,
        when="The other scheduler came later.",
        says=say(volcano_messages.other_scheduler, "vc-scheduler"),
        where=(Where.READY,),
        rule="V6",
        do="As it says.",
    ),
    Entry(
        under=OTHER_SCHEDULER,
        when="It has gone.",
        says=say(volcano_messages.other_scheduler_gone, "vc-scheduler"),
        where=(Where.LOG,),
        rule="V6",
        do="Nothing.",
    ),
)
