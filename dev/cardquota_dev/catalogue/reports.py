"""Messages other than refusals: warnings, conditions, events of the operator."""

from typing import Final

from cardquota.quota import limits
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import (
    gang_messages,
    gate_messages,
    queue_messages,
    queue_write_messages,
    reclaim_messages,
    report_messages,
    request_messages,
    shortfall_messages,
)
from cardquota.quota.verdict import Shortfall

from .entry import Entry, Where, constant, say
from .writes.queue_writes import FORBIDDEN

WARNINGS: Final = "Warnings"
TRY_AGAIN: Final = "TooManyRequests"
AUDIT: Final = "Audit mode"
_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_TERM: Final = "cardquota-system/cardquota"
_OVER: Final = [Shortfall(_H200, 1, 4, 3)]

EVENTS: Final = (
    Entry(
        under=v.RELEASED,
        when="The gate of a pod is open, after an event that said why it waited.",
        says=say(gate_messages.released, _QUEUE, [(_H200, 2)]),
        where=(Where.EVENT,),
        rule="section 9",
        do="Nothing.",
    ),
    Entry(
        under=v.RELEASED,
        when="The namespace of a pod that waited was labelled `off` or `audit`.",
        says=say(gate_messages.released_unasked, "vision", "audit"),
        where=(Where.EVENT,),
        rule="section 2",
        do="Nothing, if it is meant: the queue may be over its quota now.",
    ),
    Entry(
        under=v.RELEASED,
        when="The pods of a group's minimum are released; condition `Scheduled`.",
        says=say(gang_messages.group_released, _QUEUE),
        where=(Where.GROUP_CONDITION,),
        rule="section 2",
        do="Nothing.",
    ),
    Entry(
        under=v.RECLAIMED,
        when="The pod ends since another queue deserves the cards that its own has borrowed.",
        says=say(
            reclaim_messages.reclaimed,
            say(reclaim_messages.who_waits, "research/train-0", group=False, named=True),
            _QUEUE,
            _H200,
            2,
            "vision",
            6,
            4,
            "2026-01-01T08:00:00Z",
        ),
        where=(Where.EVENT,),
        rule="L4",
        do="Nothing: its controller makes another one, which waits for room. Keep pods that must "
        "not end within what the queue deserves.",
    ),
    Entry(
        under=v.PREEMPTED,
        when="The pod ends since one of higher priority waits for the quota of the same queue.",
        says=say(
            reclaim_messages.preempted,
            say(reclaim_messages.who_waits, "research/train", group=True, named=False),
            _QUEUE,
            _H200,
            2,
            1_000,
            0,
        ),
        where=(Where.EVENT,),
        rule="L4",
        do="Nothing: its controller makes another one, which waits for room.",
    ),
    Entry(
        under=v.NOT_GONE,
        when="A pod was ended for others, and is still there a minute after its grace period.",
        says=say(reclaim_messages.not_gone, 60),
        where=(Where.EVENT,),
        rule="L5",
        do="Find what keeps it. Nobody else ends in its place.",
    ),
    Entry(
        under=v.ROOM_MADE,
        when="All pods that end for a pod or PodGroup were asked to.",
        says=say(reclaim_messages.room_made, _H200, 2, 2, ["vision"], 300.0),
        where=(Where.EVENT, Where.GROUP_EVENT),
        rule="L5",
        do="Wait until they are gone.",
    ),
    Entry(
        under=v.RECLAIM_GAVE_UP,
        when="It has not started within `reservationTimeout` after they were gone.",
        says=say(reclaim_messages.gave_up, _H200, 300.0),
        where=(Where.EVENT, Where.GROUP_EVENT),
        rule="L5",
        do="See what the scheduler says of the pod: a volume, an affinity, cpu or memory.",
    ),
    Entry(
        under=v.WOULD_RECLAIM,
        when="The mode is `dryRun`: with `on` pods would end for a pod or PodGroup.",
        says=say(reclaim_messages.would_reclaim, _H200, 2, 2, ["vision"]),
        where=(Where.EVENT, Where.GROUP_EVENT),
        rule="L6",
        do="Wait; or set `reclaim: on`, if that is what you want.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="There is room, but the API server, a policy or a webhook refuses the pod's change.",
        says=say(
            gate_messages.gate_refused,
            'admission webhook "pods.example.com" denied the request: not today',
        ),
        where=(Where.EVENT,),
        rule="I1",
        do="See whose the refusal is; the pod is charged only when its gate opens.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="The same of a pod of a gang: nothing of the gang is started.",
        says=say(
            gang_messages.gang_refused,
            "train-0",
            'admission webhook "pods.example.com" denied the request: not today',
        ),
        where=(Where.GROUP_EVENT,),
        rule="E2",
        do="See whose the refusal is. No pod of the gang is charged.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="An earlier change of the pod got no answer. A later one, which would show the "
        "result, is refused or gets no answer either.",
        says=say(
            gate_messages.gate_undecided,
            _QUEUE,
            [(_H200, 2), (v.CPU, 4_000)],
            'admission webhook "pods.example.com" denied the request: not today',
        ),
        where=(Where.EVENT,),
        rule="I1",
        do="See whose the refusal is; or change a label of the pod.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="There is room for a gang, but gates in its namespace do not open, one after another.",
        says=say(gang_messages.gang_held_back, "vision", 3),
        where=(Where.GROUP_EVENT,),
        rule="E2",
        do="See the events of the pods of that namespace. One gate that opens there ends it.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="A gate of a gang is refused, though a dry run of all of its gates had succeeded.",
        says=say(gang_messages.gang_in_part, "train-0", 3, 4, 300.0),
        where=(Where.GROUP_EVENT,),
        rule="E2, E8",
        do="Correct what is refused; or delete the pods that run without the others.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="A policy or webhook refuses the reservation of what a gang needs, on its PodGroup.",
        says=say(
            gang_messages.gang_not_reserved,
            'admission webhook "groups.example.com" denied the request: not today',
        ),
        where=(Where.GROUP_EVENT,),
        rule="T2",
        do="See whose the refusal is; the gang starts as soon as its PodGroup can be written.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="The PodGroup of a gang cannot be written, and an earlier request got no answer.",
        says=say(
            gang_messages.gang_undecided,
            _QUEUE,
            [(_H200, 3), (v.CPU, 4_000)],
            'admission webhook "groups.example.com" denied the request: not today',
        ),
        where=(Where.GROUP_EVENT,),
        rule="T2, E8",
        do="See whose the refusal is; or change a label of the PodGroup.",
    ),
    Entry(
        under=v.GATE_REFUSED,
        when="A policy or webhook refuses the reservation of what a PodGroup asks for.",
        says=say(
            gang_messages.group_not_enqueued,
            'admission webhook "groups.example.com" denied the request: not today',
        ),
        where=(Where.GROUP_EVENT,),
        rule="T2",
        do="See whose the refusal is; it is tried again by itself.",
    ),
    Entry(
        under=v.RESERVATION_EXPIRED,
        when="A gang did not run within `reservationTimeout` of its start.",
        says=say(
            gang_messages.reservation_expired, _QUEUE, 2, 3, 300.0, [(_H200, 1), (v.CPU, 4_000)]
        ),
        where=(Where.GROUP_EVENT,),
        rule="E8",
        do="Find out why the missing members are not there, or find no node.",
    ),
    Entry(
        under=v.RESERVATION_EXPIRED,
        when="The pods of a group did not come within `reservationTimeout` of its being enqueued.",
        says=say(gang_messages.request_expired, _QUEUE, 1, 3, 300.0, [(_H200, 3)]),
        where=(Where.GROUP_EVENT,),
        rule="E8",
        do="Create the group's pods; or delete it if it is not needed any more.",
    ),
    Entry(
        under=v.RESERVATION_EXPIRED,
        when="A reservation is over, and a policy or webhook refuses to remove it from the "
        "PodGroup.",
        says=say(
            gang_messages.reservation_kept,
            _QUEUE,
            [(_H200, 1), (v.CPU, 4_000)],
            'admission webhook "groups.example.com" denied the request: not today',
        ),
        where=(Where.GROUP_EVENT,),
        rule="T2, E8",
        do="See whose the refusal is: until the PodGroup can be written, the room is taken.",
    ),
    Entry(
        under=v.ENQUEUED,
        when="What a PodGroup says in `card.request` and `minResources` fits, beside elastic pods.",
        says=say(gang_messages.enqueued, _QUEUE, [(_H200, 3), (v.CPU, 4_000)], 300.0),
        where=(Where.GROUP_EVENT,),
        rule="E1, T2",
        do="Create the group's pods: they start together in what is reserved.",
    ),
    Entry(
        under=v.CARD_MEMORY_UNREADABLE,
        when="Something cannot be read of a node that shares the memory of its cards: its cards, "
        "a list of broken ones, or which card a pod holds.",
        says=say(
            report_messages.card_memory_unreadable,
            "share-a",
            ["<1, 2> is not a list of cards: write their indexes with commas and without spaces"],
            ["vision/train-0"],
            mixed=False,
        ),
        where=(Where.NODE_EVENT,),
        rule="B1, B2",
        do="Correct what it names. Until then a bad list changes nothing, and a pod whose card is "
        "not known counts against every card of its node.",
    ),
    Entry(
        under=v.CARD_MEMORY_UNREADABLE,
        when="Somebody bound a pod to the node past the extender: pods of both kinds are there.",
        says=say(report_messages.card_memory_unreadable, "share-a", [], [], mixed=True),
        where=(Where.NODE_EVENT,),
        rule="B3",
        do="Delete the pods of one kind.",
    ),
    Entry(
        under=v.NOT_COUNTED,
        when="Labels or amounts of a node cannot be read, or contradict another node.",
        says=say(
            report_messages.not_counted,
            "hopper-1",
            ["label nvidia.com/gpu.product: a card name is empty"],
            others=False,
        ),
        where=(Where.NODE_EVENT,),
        rule="D7, D9",
        do="Correct the node; all others are counted as before.",
    ),
    Entry(
        under=v.NOT_COUNTED,
        when="There is more of a node than is read: [the limits](rules.md#limits).",
        says=say(
            report_messages.not_counted,
            "hopper-1",
            [say(report_messages.node_beyond_limit, limits.NODE_LABELS, 1_200)],
            others=False,
        ),
        where=(Where.NODE_EVENT,),
        rule="P8, D9",
        do="Drop labels, taints or resources that nobody needs.",
    ),
    Entry(
        under=v.NOT_COUNTED,
        when="The same of some cards of a node; its others are counted.",
        says=say(
            report_messages.not_counted,
            "hopper-2",
            ["label nvidia.com/gpu.replicas: <0> is not a number above one"],
            others=True,
        ),
        where=(Where.NODE_EVENT,),
        rule="D5, D9",
        do="Correct what the message names.",
    ),
    Entry(
        under=v.UNADMITTED,
        when="The queue is charged for pods that never waited at a gate of cardquota.",
        says=say(report_messages.unadmitted, _QUEUE, 2, [(_H200, 3), (v.CPU, 1_500)]),
        where=(Where.QUEUE_EVENT,),
        rule="I3",
        do="See whose they are (the leader's log names the first), and whether webhooks and "
        "policies are in place.",
    ),
    Entry(
        under=v.MODE_UNKNOWN,
        when="The namespace's label has an unknown value: it was written before the installation, "
        "in audit mode, or while the policy was missing.",
        says=say(report_messages.namespace_mode_unknown, "vision", "enforce"),
        where=(Where.NAMESPACE_EVENT,),
        rule="section 2",
        do="Correct it: `kubectl label namespace NAME --overwrite volcano.sh/card-quota=enforced`.",
    ),
    Entry(
        under=v.INSTALLATION_DIFFERS,
        when="A webhook object or policy is not what the configuration asks for.",
        says=say(
            report_messages.installation_fault,
            "ValidatingAdmissionPolicyBinding",
            "cardquota-pods",
            ["is missing"],
        ),
        where=(Where.INSTALLATION,),
        rule="I1 needs it",
        do="Apply it again, as the message says.",
    ),
    Entry(
        under=v.INSTALLATION_DIFFERS,
        when="An administrator has paused the quotas.",
        says=say(
            report_messages.installation_paused,
            "MutatingWebhookConfiguration",
            "cardquota",
            "2026-11-28T03:06:28Z by kubernetes-admin",
        ),
        where=(Where.INSTALLATION,),
        rule="U1",
        do="End the pause, as the message says, once it is not needed any more.",
    ),
    Entry(
        under=v.INSTALLATION_RESTORED,
        when="It is again what the configuration asks for.",
        says=say(
            report_messages.installation_restored,
            "ValidatingAdmissionPolicyBinding",
            "cardquota-pods",
        ),
        where=(Where.INSTALLATION,),
        rule="I1 needs it",
        do="Nothing.",
    ),
    *(
        Entry(
            under=v.FENCE_FAULT,
            when=when,
            says=says,
            where=(Where.FENCE,),
            rule="E11",
            do="What the message says.",
        )
        for when, says in (
            (
                "The object that names the current term cannot be written. No gate opens.",
                say(report_messages.fence_unwritten, _TERM, "404 NotFound: no such resource"),
            ),
            (
                "Another replica has the Lease by now, and this one is about to notice.",
                say(report_messages.fence_not_ours, _TERM),
            ),
            (
                "The API server compares with another term, or a policy is changed. No gate opens.",
                say(
                    report_messages.fence_refused,
                    _TERM,
                    "only in the current term <cardquota-0_1a>",
                ),
            ),
            (
                "A policy or binding by term is missing, or the definition of Terms. Gates open.",
                say(report_messages.fence_accepts_any, _TERM),
            ),
            (
                "A ResourceQuota, a webhook or a missing right refuses the trial. Gates open.",
                say(report_messages.fence_untried, "cardquota-system", "exceeded quota: podgroups"),
            ),
        )
    ),
    Entry(
        under=v.FENCE_IN_FORCE,
        when="None of these is the case any more.",
        says=say(report_messages.fence_in_force),
        where=(Where.FENCE,),
        rule="E11",
        do="Nothing.",
    ),
)

CONDITIONS: Final = (
    Entry(
        under=v.Condition.QUOTA_VALID,
        when="`False`: the quota that is stored cannot be read.",
        says=say(
            report_messages.quota_unreadable,
            "the amount of <NVIDIA-H200> is a string, not a whole number",
        ),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="Q4",
        do="Write a JSON object of whole numbers.",
    ),
    Entry(
        under=v.Condition.QUOTA_VALID,
        when="`False`: it cannot be read, and there was none before.",
        says=say(
            report_messages.quota_unreadable,
            "it is not JSON (expecting value at character 0)",
            kept=False,
        ),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="Q4",
        do="Write a JSON object of whole numbers.",
    ),
    Entry(
        under=v.Condition.QUOTA_VALID,
        when="`False`: a limit that is stored cannot be read. That is possible only if the "
        "webhook was not asked.",
        says=say(
            report_messages.limit_unreadable,
            "spec.capability.cpu: <1e400> is more than can be counted",
        ),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="Q2",
        do="Write a quantity.",
    ),
    Entry(
        under=v.Condition.QUOTA_VALID,
        when="Beside Volcano, where an event had the condition's sentence: it is over.",
        says=say(report_messages.condition_over, v.Condition.QUOTA_VALID),
        where=(Where.QUEUE_EVENT,),
        rule="Q4",
        do="Nothing.",
    ),
    Entry(
        under=v.Condition.OVER_QUOTA,
        when="`True`: more is held than the quota allows. Five cards, then a count.",
        says=say(report_messages.over_quota, _QUEUE, [(_H200, 3, 1)]),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="Q7",
        do="Wait until pods end, delete some, or raise the quota. Nobody is evicted.",
    ),
    Entry(
        under=v.Condition.OVER_QUOTA,
        when="The same of a queue that is not open.",
        says=say(report_messages.over_quota, _QUEUE, [(_H200, 3, 1)], v.QueueState.CLOSED),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="Q7",
        do="Wait until pods end, delete some, or raise the quota. Nobody is evicted.",
    ),
    Entry(
        under=v.Condition.OVER_QUOTA,
        when="Beside Volcano, where an event had the condition's sentence: it is over.",
        says=say(report_messages.condition_over, v.Condition.OVER_QUOTA),
        where=(Where.QUEUE_EVENT,),
        rule="Q7",
        do="Nothing.",
    ),
    Entry(
        under=v.Condition.BORROWED,
        when="`True`: rolling updates hold cards beyond the quota. Only with `card.surge`.",
        says=say(report_messages.borrowed, _QUEUE, _H200, 1, 2),
        where=(Where.CONDITION,),
        rule="R6",
        do="Nothing, if the updates go on. A new pod that does not become ready keeps its old one, "
        "and what is borrowed: `kubectl rollout undo`.",
    ),
    Entry(
        under=v.Condition.OVERSOLD,
        when="`True`: the quotas for a card add up to more than the cluster has. Five cards are "
        "named, then a count.",
        says=say(report_messages.oversold, _H200, 12, 6),
        where=(Where.CONDITION, Where.QUEUE_EVENT),
        rule="Q3",
        do="Nothing, if it is meant.",
    ),
    Entry(
        under=v.Condition.OVERSOLD,
        when="Beside Volcano, where an event had the condition's sentence: it is over.",
        says=say(report_messages.condition_over, v.Condition.OVERSOLD),
        where=(Where.QUEUE_EVENT,),
        rule="Q3",
        do="Nothing.",
    ),
)

ANSWERS: Final = (
    Entry(
        under=FORBIDDEN,
        when="Somebody deletes a queue that pods or groups still use. Five of their workloads and "
        "groups, then a count.",
        says=say(
            queue_write_messages.queue_in_use, _QUEUE, 9, 1, ["vision/chat", "vision/tune"], 4
        ),
        where=(Where.DELETION,),
        rule="Q8",
        do="Close it first.",
    ),
    Entry(
        under=TRY_AGAIN,
        when="The namespace was created a moment ago.",
        says=say(queue_messages.namespace_not_seen, "vision"),
        where=(Where.AGAIN,),
        rule="section 2",
        do="Nothing: the client tries again.",
    ),
    Entry(
        under=TRY_AGAIN,
        when="The operator has not heard from the API server for too long.",
        says=say(gate_messages.not_read_lately),
        where=(Where.AGAIN, Where.RESIZE),
        rule="I1",
        do="If it does not pass: `/readyz` says what is late.",
    ),
)

NOTES: Final = (
    Entry(
        under=WARNINGS,
        when="Not all pods of a workload fit at present; a second Warning says why.",
        says=say(shortfall_messages.partly_fits, "chat", 4, 3, waits=False),
        where=(Where.WORKLOAD,),
        rule="E2",
        do="Nothing, or fewer replicas: the workload itself is taken as it is.",
    ),
    Entry(
        under=WARNINGS,
        when="That second Warning: why the next pod does not fit.",
        says=say(shortfall_messages.insufficient, _QUEUE, Shortfall(_H200, 1, 4, 3)),
        where=(Where.WORKLOAD,),
        rule="section 9",
        do="See `InsufficientCardQuota`.",
    ),
    Entry(
        under=WARNINGS,
        when="As the first, on a Job or on members of a gang.",
        says=say(shortfall_messages.partly_fits, "train", 4, 3, waits=True),
        where=(Where.WORKLOAD,),
        rule="E2",
        do="Nothing: they start when there is room.",
    ),
    Entry(
        under=WARNINGS,
        when="As the first, in audit mode: all pods are admitted; so many would be refused or "
        "wait. The second begins the same way.",
        says=say(shortfall_messages.audited, say(shortfall_messages.partly_audited, "chat", 4, 3)),
        where=(Where.WORKLOAD,),
        rule="E2",
        do="Nothing yet; ask for fewer replicas, or for a higher quota, before rules are enforced.",
    ),
    Entry(
        under=WARNINGS,
        when="The template of a Deployment is changed while its own pods fill the quota: it would "
        "create a new pod before it ends an old one. A second Warning says why that does not fit.",
        says=say(shortfall_messages.update_cannot_begin, "chat", 1),
        where=(Where.WORKLOAD,),
        rule="E2",
        do="Write these two numbers under `spec.strategy.rollingUpdate`, or have the quota raised. "
        "Until then the old pods run on.",
    ),
    Entry(
        under=WARNINGS,
        when="A pod names a card and has no queue, where none is required.",
        says=say(queue_messages.card_without_queue, _H200),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="section 2",
        do="Name a queue, if the pod must run on that card or count towards a quota. Without one "
        "only its node selector decides where it runs, and it is counted by the card of its node.",
    ),
    Entry(
        under=WARNINGS,
        when="Beside a Warning of audit mode, of a pod that names a card. What keeps pods on nodes "
        "of their card is written when a gate opens, and here there is none.",
        says=say(queue_messages.card_in_audit, _H200),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="P5",
        do="Nothing, if any model will do; else give the pod a node selector.",
    ),
    Entry(
        under=WARNINGS,
        when="With `scheduler: volcano`, a pod with cards that Volcano schedules has no queue, "
        "where none is required.",
        says=say(queue_messages.runs_without_quota),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="V5",
        do="Name a queue. `defaultQueue` gives one to all that name none; `requireQueue` refuses "
        "them.",
    ),
    Entry(
        under=WARNINGS,
        when="The card has a quota, and no node offers it: its pool is scaled to zero.",
        says=say(request_messages.card_of_no_node, "NVIDIA-B300"),
        where=(Where.WARNING, Where.WORKLOAD, Where.GROUP_WARNING),
        rule="P4",
        do="Nothing, where nodes are added on demand; else correct the name.",
    ),
    Entry(
        under=WARNINGS,
        when="Nodes have the card, but none that the pod's own node selector and affinity pick.",
        says=say(request_messages.card_of_no_node, "NVIDIA-H200", selects=True),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="P4",
        do="Nothing, where nodes are added on demand; else correct the selector.",
    ),
    Entry(
        under=WARNINGS,
        when="The pod asks for more of a card than any node has, or for more memory than any card.",
        says=say(request_messages.more_than_a_node, "NVIDIA-H200", 16, 8),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="P4",
        do="Ask for less in one pod, unless nodes with as many are added on demand.",
    ),
    Entry(
        under=WARNINGS,
        when="The quota of a Queue has a row that can never be used.",
        says=say(queue_write_messages.row_impossible, "NVIDIA H200", "NVIDIA-H200"),
        where=(Where.QUEUE_WARNING,),
        rule="D9",
        do="Correct the name of the row.",
    ),
    Entry(
        under=WARNINGS,
        when="A row of a quota is new or changed, and no node has its card.",
        says=say(queue_write_messages.row_of_no_node, "NVIDIA-H20O", "NVIDIA-H200"),
        where=(Where.QUEUE_WARNING,),
        rule="P4",
        do="Correct the name of the row. Nothing, if its pool is scaled to zero.",
    ),
    Entry(
        under=WARNINGS,
        when="A row of a quota is new or changed, and alone more than all nodes have.",
        says=say(queue_write_messages.row_above_cluster, "NVIDIA-H200", 300, 14),
        where=(Where.QUEUE_WARNING,),
        rule="Q3",
        do="Nothing, if that is wanted; else correct the number.",
    ),
    Entry(
        under=WARNINGS,
        when="A row of a quota is lowered below what is in use, or taken out while it is.",
        says=say(queue_write_messages.row_below_use, "NVIDIA-H200", 2, 4, 1),
        where=(Where.QUEUE_WARNING,),
        rule="Q7",
        do="Wait until pods end, or end some. Write the old number if it was not meant.",
    ),
    Entry(
        under=WARNINGS,
        when="More rows look wrong than the five that are named.",
        says=say(queue_write_messages.more_rows, 35),
        where=(Where.QUEUE_WARNING,),
        rule="Q3, Q7, P4",
        do="Correct the named ones, and write the queue again.",
    ),
    Entry(
        under=WARNINGS,
        when="A new annotation looks like one of cardquota's, and is none.",
        says=say(queue_write_messages.no_effect, "volcano.sh/card.polcy", v.POLICY),
        where=(Where.QUEUE_WARNING, Where.WARNING, Where.WORKLOAD, Where.GROUP_WARNING),
        rule="section 2",
        do="Correct the key.",
    ),
    Entry(
        under=WARNINGS,
        when="The specification of a Queue has card resources, and the Queue no `card.quota`.",
        says=say(
            queue_write_messages.cards_ignored,
            [("capability", "nvidia.com/gpu"), ("deserved", "nvidia.com/gpu")],
            has_quota=False,
        ),
        where=(Where.QUEUE_WARNING,),
        rule="Q2",
        do="Write the quota, by card. [How](migration/from-capacity.md).",
    ),
    Entry(
        under=WARNINGS,
        when="The same beside a `card.quota`.",
        says=say(
            queue_write_messages.cards_ignored,
            [("capability", "nvidia.com/gpu")],
            has_quota=True,
        ),
        where=(Where.QUEUE_WARNING,),
        rule="Q2",
        do="Take them out: Volcano's plugin `capacity` holds the queue to them as well.",
    ),
    Entry(
        under=WARNINGS,
        when="Beside Volcano, a Queue has a guarantee of which `spec.deserved` has less.",
        says=say(queue_write_messages.guarantee_not_deserved, [("cpu", "2"), ("memory", "2Gi")]),
        where=(Where.QUEUE_WARNING,),
        rule="V2",
        do="Write `spec.deserved`. Volcano's own webhook refuses the Queue until then.",
    ),
    Entry(
        under=WARNINGS,
        when="A Queue without `card.namespaces`, where the setting `requireNamespaces` demands it.",
        says=say(queue_write_messages.open_to_nobody),
        where=(Where.QUEUE_WARNING,),
        rule="section 2",
        do="Add the annotation.",
    ),
    Entry(
        under=WARNINGS,
        when="`card.surge` of a Queue names a card that is not in `card.quota`.",
        says=say(queue_write_messages.surge_without_quota, "NVIDIA-H800"),
        where=(Where.QUEUE_WARNING,),
        rule="R6",
        do="Correct the name, or add a row to the quota.",
    ),
    Entry(
        under=WARNINGS,
        when="`card.deserved` or `card.lendable` of a Queue names a card outside `card.quota`.",
        says=say(queue_write_messages.owed_without_quota, v.DESERVED, "NVIDIA-H800"),
        where=(Where.QUEUE_WARNING,),
        rule="L1",
        do="Correct the name, or add a row to the quota.",
    ),
    Entry(
        under=WARNINGS,
        when="`card.deserved` of a Queue is new or changed, and above its quota.",
        says=say(queue_write_messages.owed_above_quota, "NVIDIA-H200", 5, 3),
        where=(Where.QUEUE_WARNING,),
        rule="L1",
        do="Correct the number, or raise the quota.",
    ),
    Entry(
        under=WARNINGS,
        when="`card.deserved` of a Queue is new or changed, and with it queues are owed more of a "
        "card than all nodes have.",
        says=say(queue_write_messages.owed_above_cluster, "NVIDIA-H200", 18, 14),
        where=(Where.QUEUE_WARNING,),
        rule="L1",
        do="Let all `card.deserved` of a card together be at most what the cluster has: what is "
        "not there cannot be given to all.",
    ),
    Entry(
        under=WARNINGS,
        when="The annotation's old name. Beside the new one it must say the same.",
        says=say(request_messages.alias_used),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="section 2",
        do="Rename it.",
    ),
    Entry(
        under=WARNINGS,
        when="A managed pod has another scheduling gate beside cardquota's.",
        says=say(request_messages.foreign_gate, "example.com/image-scan"),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="E2",
        do="Nothing, or have that gate opened before cardquota's.",
    ),
    Entry(
        under=WARNINGS,
        when="A Job has a deadline, and its pods may have to wait for quota.",
        says=say(request_messages.deadline_in_queue, 600),
        where=(Where.WORKLOAD,),
        rule="E2",
        do="Leave it out, or write it in the pod template: there it counts from the start.",
    ),
    Entry(
        under=WARNINGS,
        when="A card, queue or group stands on a workload and not in its pod template.",
        says=say(request_messages.key_beside_template, v.QUEUE_NAME),
        where=(Where.WORKLOAD,),
        rule="section 2",
        do="Move it to `spec.template.metadata.annotations`.",
    ),
    Entry(
        under=WARNINGS,
        when="A new pod or PodGroup has annotations that only the operator writes, as one from a "
        "backup has.",
        says=say(request_messages.keys_left_out, [v.ALLOCATED, v.CHARGED_QUEUE, v.TERM]),
        where=(Where.WARNING, Where.GROUP_WARNING),
        rule="I3",
        do="Nothing.",
    ),
    Entry(
        under=WARNINGS,
        when="A PodGroup is replaced without its reservation.",
        says=say(request_messages.keys_kept, [v.RESERVATION]),
        where=(Where.GROUP_WARNING,),
        rule="I3",
        do="Nothing.",
    ),
    Entry(
        under=WARNINGS,
        when="The pod claims devices (DRA) where that is allowed.",
        says=say(request_messages.claim_not_counted),
        where=(Where.WARNING,),
        rule="P7",
        do="Nothing, or ask for the card in the container's limits.",
    ),
    Entry(
        under=WARNINGS,
        when="The pod asks for card memory, and no queue's quota has a row `<product>/gpu-mem`.",
        says=say(request_messages.memory_not_limited, _QUEUE),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="B10",
        do="Nothing, or give the queues that may use it such a row.",
    ),
)

AUDITED: Final = (
    Entry(
        under=AUDIT,
        when="A pod that would have been refused or gated is admitted. A Warning says so and, "
        "once the queue is over its quota, an event. Any refusal can follow the colon, and the "
        "event has its reason.",
        says=say(
            shortfall_messages.audited,
            say(shortfall_messages.shortfalls, _QUEUE, _OVER, constant("ADVICE_WAIT")),
        ),
        where=(Where.WARNING, Where.EVENT),
        rule="section 2",
        do="What the sentence says, before the namespace is enforced.",
    ),
)
