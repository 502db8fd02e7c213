"""Messages about what holds quota, or waits, without anybody noticing."""

from typing import Final

from cardquota.quota.messages import shortfall_messages, stuck_messages
from cardquota.quota.verdict import Shortfall
from cardquota.quota.vocabulary import STUCK_TERMINATING

from .entry import Entry, Said, Where, constant, say

STUCK: Final = "What is stuck"
_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_SHORT: Final = say(shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 2, 4, 3)])


def _of(what: Said, why: Said, advice: Said | None = None) -> Said:
    """A whole sentence, as `StuckFinding` makes it."""
    names = what.names | why.names | (advice.names if advice is not None else frozenset())
    return Said(f"{what}: {why}" + (f"; {advice}" if advice is not None else ""), names)


def _late(state: str, advice: str, node: str = "gpu-7") -> Said:
    what = say(stuck_messages.late_to_end, _QUEUE, [(_H200, 2)], 720)
    why = constant(state)
    return _of(what, say(stuck_messages.of_node, node, why) if node else why, constant(advice))


_WAITED: Final = say(stuck_messages.long_at_the_gate, 7_200)
_LACKS: Final = say(stuck_messages.lacks_pods, "chat", 1, 4, 7_200)

STUCK_PODS: Final = (
    Entry(
        under=STUCK_TERMINATING,
        when="A pod is being deleted, should have ended, and holds quota: its node is gone.",
        says=_late("NODE_GONE", "ADVICE_GONE_NODE"),
        where=(Where.STUCK_EVENT,),
        rule="R7",
        do="As it says. Until then nobody else gets what it holds (T4).",
    ),
    Entry(
        under=STUCK_TERMINATING,
        when="The same, while its node does not report, or says that it is not well.",
        says=_late("NODE_NOT_READY", "ADVICE_DEAD_NODE"),
        where=(Where.STUCK_EVENT,),
        rule="R7",
        do="As it says; a node that comes back ends the pod by itself.",
    ),
    Entry(
        under=STUCK_TERMINATING,
        when="The same on a node that is well.",
        says=_late("NODE_READY", "ADVICE_READY_NODE"),
        where=(Where.STUCK_EVENT,),
        rule="R7",
        do="Find what keeps it; do not force its deletion.",
    ),
    Entry(
        under=STUCK_TERMINATING,
        when="The same of a pod that was let through and has no node.",
        says=_late("NO_NODE", "ADVICE_NO_NODE", node=""),
        where=(Where.STUCK_EVENT,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK_TERMINATING,
        when="The same of a node that could not be read, as for a user who may not list nodes.",
        says=_late("NODE_NOT_KNOWN", "ADVICE_UNKNOWN_NODE"),
        where=(Where.CHECK_ONLY,),
        rule="R7",
        do="As it says.",
    ),
)

STUCK_OTHERS: Final = (
    Entry(
        under=STUCK,
        when="A pod has waited at its gate for long.",
        says=_of(_WAITED, _SHORT),
        where=(Where.CHECK,),
        rule="R7",
        do="As for the sentence after the colon.",
    ),
    Entry(
        under=STUCK,
        when="The same; it would fit now.",
        says=_of(_WAITED, say(stuck_messages.room_now, _QUEUE)),
        where=(Where.CHECK,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="In answers to questions: it would fit now, and what is free may be set aside for one "
        "that comes before it. For whom it is only the leader knows; any replica answers.",
        says=say(stuck_messages.room_may_be_set_aside, _QUEUE, 600.0),
        where=(Where.ANSWER,),
        rule="E6, F3",
        do="Wait, or ask for more quota. An event on the pod says for whom it is set aside.",
    ),
    Entry(
        under=STUCK,
        when="The same; the API server or a webhook refused to open its gate.",
        says=_of(_WAITED, constant("GATE_HELD_BACK")),
        where=(Where.CHECK,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="The same; its gang starts at this moment, or its group is being written.",
        says=_of(_WAITED, constant("START_UNDER_WAY")),
        where=(Where.CHECK,),
        rule="R7",
        do="Nothing, unless it stays so.",
    ),
    Entry(
        under=STUCK,
        when="The same, where nothing is enforced.",
        says=_of(_WAITED, constant("NOT_ENFORCED")),
        where=(Where.CHECK,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="The same, for a user who may not list all that the answer depends on.",
        says=_of(_WAITED, constant("NOT_JUDGED")),
        where=(Where.CHECK_ONLY,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="A workload lacks pods since cardquota refused some.",
        says=_of(_LACKS, _SHORT),
        where=(Where.CHECK,),
        rule="R7",
        do="As for the sentence after the colon.",
    ),
    Entry(
        under=STUCK,
        when="The same; its next pod would be admitted now.",
        says=_of(_LACKS, say(stuck_messages.would_be_admitted, _QUEUE)),
        where=(Where.CHECK,),
        rule="R7",
        do="Nothing, unless it stays so: it is woken (R5).",
    ),
    Entry(
        under=STUCK,
        when="The same; its next pod would wait at the gate.",
        says=_of(_LACKS, say(stuck_messages.would_wait, _SHORT)),
        where=(Where.CHECK,),
        rule="R7",
        do="Nothing, unless it stays so: it is woken (R5).",
    ),
    Entry(
        under=STUCK,
        when="The same; no quota is enforced in its namespace by now, or its pods name no queue.",
        says=_of(_LACKS, constant("NO_QUOTA_REFUSES")),
        where=(Where.CHECK,),
        rule="R7",
        do="See its events.",
    ),
    Entry(
        under=STUCK,
        when="The same; more is in its pod template than is read.",
        says=_of(_LACKS, constant("TEMPLATE_NOT_KEPT")),
        where=(Where.CHECK,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="The field `advice` for each pod that waits for quota, with `-o json`.",
        says=constant("ADVICE_GATED"),
        where=(Where.CHECK_ONLY,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="The same for each that waits for something else.",
        says=constant("ADVICE_GATED_OTHERS"),
        where=(Where.CHECK_ONLY,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="The same for each workload that lacks pods for want of something else.",
        says=constant("ADVICE_DENIED_OTHERS"),
        where=(Where.CHECK_ONLY,),
        rule="R7",
        do="As it says.",
    ),
    Entry(
        under=STUCK,
        when="The same for each workload that lacks pods for want of quota.",
        says=constant("ADVICE_DENIED"),
        where=(Where.CHECK_ONLY,),
        rule="R7",
        do="As it says.",
    ),
)
