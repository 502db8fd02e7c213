"""Messages about pods that their queue, node or group keeps out or keeps waiting."""

from typing import Final

from cardquota.quota.messages import gang_messages, gate_messages, queue_messages, request_messages
from cardquota.quota.verdict import Growth
from cardquota.quota.vocabulary import CPU, MEMORY, Reason

from .entry import POD, Entry, Said, Where, say

_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_GPU: Final = "nvidia.com/gpu"
_GI: Final = 2**30
_TEMPLATE: Final = "ResourceClaimTemplate"


def _claimed(when: str, why: Said, do: str) -> Entry:
    """The same refusal of a pod that claims devices, with the claim."""
    refused = say(
        request_messages.invalid_request, _QUEUE, [], say(request_messages.device_claimed)
    )
    return Entry(
        under=Reason.DEVICE_CLAIMED,
        when=when,
        says=say(request_messages.with_claim, refused, why),
        where=(Where.REFUSAL,),
        rule="P7",
        do=do,
    )


NO_QUEUE: Final = (
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="No queue has that name.",
        says=say(queue_messages.queue_not_found, "reserach", [(_H200, 1)], meant=_QUEUE),
        where=POD,
        rule="E5",
        do="Correct the name.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="The same, of the queue that a PodGroup names. Whoever writes it gets a Warning.",
        says=say(queue_messages.queue_not_found, "reserach", [(_H200, 2)], meant=_QUEUE, group=""),
        where=(Where.GROUP_EVENT, Where.GROUP_CONDITION),
        rule="E5",
        do="Create the queue: the group waits for it. Or correct `spec.queue`. Where it is absent "
        "the API server writes `default`.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="The same, of a pod whose queue is that of its PodGroup.",
        says=say(
            queue_messages.queue_not_found,
            "reserach",
            [(_H200, 1)],
            meant=_QUEUE,
            group="lab/train",
        ),
        where=POD,
        rule="E5",
        do="Correct `spec.queue` of the PodGroup.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="An existing pod asks for more cpu or memory, and its queue is gone.",
        says=say(queue_messages.gone_for_growth, _QUEUE, [Growth(CPU, 4_000, 6_000)]),
        where=(Where.RESIZE,),
        rule="Q6",
        do="Create the pod again in another queue: this pod's queue is fixed. Its requests may "
        "shrink.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="The queue was created a moment ago: it is there, and its quota has not been read.",
        says=say(queue_messages.queue_not_seen, "research"),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="E5",
        do="Nothing: the pod is judged as soon as the queue has been read.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="The namespace or the configuration requires a queue for cards, and the pod has none.",
        says=say(queue_messages.no_queue, "vision", [(_GPU, 1)]),
        where=(Where.REFUSAL,),
        rule="section 2",
        do="Name a queue.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="With the scheduler extender: the pod asks for card memory, and has no queue.",
        says=say(queue_messages.memory_without_queue, "vision"),
        where=(Where.REFUSAL,),
        rule="B9",
        do="Name a queue whose quota has `<product>/gpu-mem`.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="With `webhook.gate: policy`, in a namespace labelled `enforced`: the card is in no "
        "vendor row, and the queue is that of the namespace or of the configuration.",
        says=say(queue_messages.queue_not_named, _QUEUE, [("acme.example/npu", 1)]),
        where=(Where.REFUSAL,),
        rule="section 2",
        do="Name the queue on the pod, or have a row added; then apply `cardquota manifests`.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_FOUND,
        when="A pod at the gate lost its queue: that of its namespace, group or annotation.",
        says=say(gate_messages.gated_without_queue),
        where=(Where.POD_EVENT,),
        rule="section 2",
        do="Name a queue, or create the pod again.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_OPEN,
        when="The queue is closed, or is being closed.",
        says=say(queue_messages.queue_not_open, _QUEUE, "Closed", [(_H200, 1)]),
        where=(*POD, Where.GROUP_WRITE),
        rule="Q6",
        do="Wait until it is opened, or use another.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_OPEN,
        when="An existing pod asks for more cpu or memory, and its queue is closed.",
        says=say(
            queue_messages.closed_to_growth,
            _QUEUE,
            "Closed",
            [Growth(CPU, 4_000, 6_000), Growth(MEMORY, 8 * _GI, 12 * _GI)],
        ),
        where=(Where.RESIZE,),
        rule="Q6",
        do="Wait until it is opened, or create the pod again in another. Its requests may shrink.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_OPEN,
        when="The queue is for other namespaces.",
        says=say(queue_messages.namespace_not_admitted, _QUEUE, "vision", [(_H200, 1)]),
        where=(*POD, Where.GROUP_WRITE),
        rule="E5",
        do="Use your own queue.",
    ),
    Entry(
        under=Reason.QUEUE_NOT_OPEN,
        when="An existing pod asks for more cpu or memory, and its queue is not for its namespace "
        "any more.",
        says=say(
            queue_messages.no_growth_admitted, _QUEUE, "vision", [Growth(MEMORY, 8 * _GI, 12 * _GI)]
        ),
        where=(Where.RESIZE,),
        rule="E5",
        do="Create the pod again in your own queue. Its requests may shrink.",
    ),
)

OTHER: Final = (
    Entry(
        under=Reason.NODE_NAMED,
        when="The pod has a queue, and names its node.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_H200, 1)],
            say(request_messages.node_named, "hopper-1"),
        ),
        where=(Where.REFUSAL,),
        rule="E9",
        do="Leave `spec.nodeName` out.",
    ),
    Entry(
        under=Reason.DEVICE_CLAIMED,
        when="The pod claims devices (DRA) in a namespace labelled `enforced`.",
        says=say(
            request_messages.invalid_request, _QUEUE, [], say(request_messages.device_claimed)
        ),
        where=(Where.REFUSAL,),
        rule="P7",
        do="Ask for the card in the container's limits.",
    ),
    _claimed(
        "The same, and a claim is of a DeviceClass that may have cards.",
        say(request_messages.claim_of, _TEMPLATE, "gpu", "gpu.nvidia.com"),
        "Ask for the card in the container's limits. If the class has no cards, have it named in "
        "`deviceClassesWithoutCards`.",
    ),
    _claimed(
        "The same, and a claim does not exist.",
        say(request_messages.claim_missing, _TEMPLATE, "imex"),
        "Create the claim, or its template, before the pod.",
    ),
    _claimed(
        "The same, and the API server did not say what a claim is of.",
        say(request_messages.claim_not_read, _TEMPLATE, "imex", "no answer in time"),
        "Try again. If it stays so, see whether the operator may get `resourceclaims` and "
        "`resourceclaimtemplates`.",
    ),
    _claimed(
        "The same, and the pod has very many claims.",
        say(request_messages.claims_not_read, 9, 8),
        "Put several requests into one claim.",
    ),
    Entry(
        under=Reason.GROUP_NOT_FOUND,
        when="The pod's group is not there. An event follows if it does not come in 10 s.",
        says=say(queue_messages.group_not_seen, "research/trian", "train"),
        where=(Where.WARNING, Where.WORKLOAD, Where.POD_EVENT),
        rule="section 2",
        do="Create the PodGroup in the pod's own namespace, or correct the annotation.",
    ),
    Entry(
        under=Reason.GROUP_NOT_FOUND,
        when="Beside Volcano: a pod of a Deployment or another workload has no group after 10 s.",
        says=say(gang_messages.group_to_come, _QUEUE),
        where=(Where.POD_EVENT,),
        rule="V8",
        do="See whether Volcano's controllers run, and whether `kubectl cardquota check` finds "
        "that they are refused.",
    ),
    Entry(
        under=Reason.GANG_INCOMPLETE,
        when="Beside Volcano: a pod beyond the minimum of a gang would get another card, and the "
        "minimum is not on nodes for more than 10 s.",
        says=say(gang_messages.waits_for_minimum, _QUEUE, "research/train", 0, 2),
        where=(Where.POD_EVENT,),
        rule="V7",
        do="See why the first pods do not run.",
    ),
    Entry(
        under=Reason.GANG_INCOMPLETE,
        when="Members of a gang are missing for more than 10 s.",
        says=say(gang_messages.gang_incomplete, "research/train", 2, 4),
        where=(Where.GANG_EVENT,),
        rule="E2",
        do="See why the others were not created: `kubectl get events`.",
    ),
    Entry(
        under=Reason.GANG_INCOMPLETE,
        when="Members of some of its tasks are missing for more than 10 s.",
        says=say(
            gang_messages.gang_tasks_incomplete,
            "research/train",
            [("worker", 3, 2), ("head", 1, 0)],
        ),
        where=(Where.GANG_EVENT,),
        rule="E2",
        do="See why the others were not created, and that their pods name their task as the group "
        "does.",
    ),
    Entry(
        under=Reason.GANG_INCOMPLETE,
        when="They are there for more than 10 s, but some of a task cannot be released.",
        says=say(gang_messages.gang_tasks_not_ready, "research/train", _QUEUE, [("head", 1, 0)]),
        where=(Where.GANG_EVENT,),
        rule="E2, I4",
        do="Look for members of the task that stay in `Terminating`, or are in another queue.",
    ),
    Entry(
        under=Reason.GANG_INCOMPLETE,
        when="They are there for more than 10 s, but some cannot be released: each in the queue "
        "that it belongs to is told how many can be there.",
        says=say(gang_messages.gang_not_ready, "research/train", _QUEUE, 4, 4, 2),
        where=(Where.GANG_EVENT,),
        rule="E2, I4",
        do="Look for members that stay in `Terminating`, and for annotations that name other "
        "queues: a gang starts in one queue.",
    ),
    Entry(
        under=Reason.GANG_INCOMPLETE,
        when="A group ran, or a part of it did, and now fewer of its pods run; phase `Unknown`.",
        says=say(gang_messages.group_runs_in_part, 3, 4),
        where=(Where.GROUP_CONDITION,),
        rule="section 2",
        do="See why the others have ended, in their status and events; or create them again.",
    ),
    Entry(
        under=Reason.BEHIND,
        when="The queue is `fifo`, and a pod or group before this one lacks room. Both want the "
        "card, or the cpu or memory, that is named. The other one is named if it is in the pod's "
        "own namespace.",
        says=say(gate_messages.behind, _QUEUE, _H200, "research/train-0"),
        where=(Where.POD_EVENT, Where.GROUP_CONDITION),
        rule="E6",
        do="Wait; see what that one waits for, if it is yours: `kubectl cardquota explain`.",
    ),
    Entry(
        under=Reason.BEHIND,
        when="A pod or group before this one lacks room, and has waited for longer than "
        "`release.starvationWait`. Both want the card, or the cpu or memory, that is named. The "
        "other one is named if it is in the pod's own namespace.",
        says=say(gate_messages.behind, _QUEUE, _H200, "research/train", group=True, waited=1_500.0),
        where=(Where.POD_EVENT, Where.GROUP_CONDITION),
        rule="E6",
        do="Wait; or ask for a card that is not waited for.",
    ),
    Entry(
        under=Reason.BEHIND,
        when="Pods end so that another pod or group can start, which nobody is to take that room "
        "from, in any queue. The other one is named if it is in the pod's own namespace.",
        says=say(gate_messages.behind_room_made, _QUEUE, _H200, "research/train", group=True),
        where=(Where.POD_EVENT, Where.GROUP_CONDITION),
        rule="L5",
        do="Wait; or ask for another card.",
    ),
    Entry(
        under=Reason.NODE_WITHOUT_CARD,
        when="The pod names its nodes, as those of a DaemonSet do, and they have no such card.",
        says=say(request_messages.node_without_card, _QUEUE, _GPU, 1),
        where=(Where.WARNING, Where.WORKLOAD, Where.POD_EVENT),
        rule="P3",
        do="Set a node selector to nodes with this card. The pod holds no quota while it waits.",
    ),
    Entry(
        under=Reason.CARD_UNCLEAR,
        when="The pod picks nodes by a label of which no node with such a card is there, as of a "
        "pool at zero, and it may use several cards of the quota.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_GPU, 1)],
            say(request_messages.card_unclear, [_H200, "NVIDIA-H800"]),
        ),
        where=(Where.REFUSAL, Where.POD_EVENT),
        rule="P3",
        do="Name the one card that these nodes have. Then the pod is released, and an "
        "autoscaler sees it.",
    ),
    Entry(
        under=Reason.CARD_UNCLEAR,
        when="The same, in short.",
        says=say(request_messages.card_unclear_yet),
        where=(Where.WARNING, Where.WORKLOAD),
        rule="P3",
        do="The same.",
    ),
)
