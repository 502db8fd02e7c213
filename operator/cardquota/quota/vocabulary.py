"""Every key, gate, reason and condition name that people and other programs can see.

`messages` has the sentences that people read. Nothing here is computed: changing a name here
changes a public interface. `docs/reference.md` has the keys with their docstrings, which say what
a key is (before the colon) and what it means.
"""

from enum import StrEnum
from typing import Final

# --- annotations that users write ------------------------------------------------------------
QUOTA: Final = "volcano.sh/card.quota"
"""Annotation of a Queue: JSON object, card to whole number, `{"NVIDIA-H200": 3}`: how many of each
card the queue may hold. A card without a row has a quota of 0."""
POLICY: Final = "volcano.sh/card.policy"
"""Annotation of a Queue: `Deny` or `Gate`, what happens to a pod that could fit later and not now.
Absent: the maker of the pod decides."""
NAMESPACES: Final = "volcano.sh/card.namespaces"
"""Annotation of a Queue: JSON list of names and patterns, `["team-a", "team-a-*"]`: the namespaces
that may use the queue. Absent: every namespace."""
QUEUE_STATE: Final = "volcano.sh/card.state"
"""Annotation of a Queue: `Open` or `Closed`. A closed queue takes nothing new; running pods go
on."""
SURGE: Final = "volcano.sh/card.surge"
"""Annotation of a Queue: `1`, or `{"NVIDIA-H200": 1}`: how many cards rolling updates may borrow
beyond the quota for a time (R6). Absent: none."""
QUEUE_RECLAIM: Final = "volcano.sh/card.reclaim"
"""Annotation of a Queue: `off`, `dryRun` or `on`: whether pods are ended for what waits in the
queue, at most as the setting `reclaim` says (L6). Absent: as that says."""
DESERVED: Final = "volcano.sh/card.deserved"
"""Annotation of a Queue: `{"NVIDIA-H200": 3}`: how many of a card the queue is owed, at most its
quota; what it holds beyond that is borrowed (L1). A card without a row: its part by weight (W1)."""
LENDABLE: Final = "volcano.sh/card.lendable"
"""Annotation of a Queue: `{"NVIDIA-H200": 1}`: how many of the cards that it is owed others may use
while it does not; the rest is kept for it (L2). A card without a row: all."""
REQUEST: Final = "volcano.sh/card.request"
"""Annotation of a PodGroup: `{"NVIDIA-H200|NVIDIA-H800": 2, "NVIDIA-H200": 1}`: what its
`minMember` pods will ask for together. The number of a choice is for all its cards together
(E1)."""
CARD_NAME: Final = "volcano.sh/card.name"
"""Annotation of a pod: the card that it uses, or several, `NVIDIA-H200|NVIDIA-H800`, best first.
All must have the same resource name (P2)."""
CARD_NAME_ALIAS: Final = "volcano.sh/card.card"
"""Annotation of a pod: alias of `card.name`, read with a Warning. Two that disagree are refused."""
QUEUE_NAME: Final = "scheduling.volcano.sh/queue-name"
"""Annotation of a pod or a namespace: the queue that is charged. Of a namespace: for its pods that
use cards and name none."""
QUEUE_NAME_VOLCANO_JOB: Final = "volcano.sh/queue-name"
"""Annotation of a pod: its queue, as Volcano's Jobs write it."""
GROUP_NAME: Final = "scheduling.k8s.io/group-name"
"""Annotation of a pod: its PodGroup, in its namespace. The pod is charged to the group's queue."""
TASK: Final = "volcano.sh/task-spec"
"""Annotation of a pod: its task in its group, as Volcano's Jobs write it."""
PREEMPTABLE: Final = "volcano.sh/preemptable"
"""Annotation of a pod or a PodGroup, or its label of this name: `false`: no pod of it ends so that
others get its cards (L4). Absent, or anything else: it may."""

SYSTEM_CLASSES: Final = "system-"
"""How the names of Kubernetes' own PriorityClasses begin. Nobody else may make one."""
DEFAULT_QUEUE: Final = "default"
"""The queue of a pod group or Volcano Job that names none: the API server or Volcano writes it."""
VOLCANO_SCHEDULER: Final = "volcano"
"""`spec.schedulerName` of the pods that Volcano binds."""
ROOT_QUEUE: Final = "root"
"""The only parent that a queue may have. Volcano gives it to all queues (Q5)."""

# --- the namespace label that says how strict we are in it ---------------------------------
NAMESPACE_MODE: Final = "volcano.sh/card-quota"
"""Label of a namespace: `enforced`: a pod that uses cards and has no queue is refused. `audit`:
nothing is refused or gated, a Warning or an event says what would be. `off`: the operator leaves
the namespace alone; with `namespaces: labelled` without the label, too. Anything else is refused at
write."""

# --- annotations that only the operator writes ----------------------------------------------
ALLOCATED: Final = "volcano.sh/card.allocated"
"""Annotation of a pod, by the operator alone: the cards that the pod is charged for."""
CHARGED_QUEUE: Final = "volcano.sh/card.queue"
"""Annotation of a pod, by the operator alone: the queue that it is charged to."""
TERM: Final = "volcano.sh/card.term"
"""Annotation of a pod, by the operator alone: the term that decided. Without the other two keys:
audit mode let the pod by (I3)."""
SETTLE: Final = "volcano.sh/card.settle"
"""Annotation of a pod or a PodGroup, by the operator alone: another one with each write that rules
out all earlier ones."""
RESERVATION: Final = "volcano.sh/card.reservation"
"""Annotation of a PodGroup, by the operator alone: what is reserved for it (T2)."""
RECLAIM_PLAN: Final = "volcano.sh/card.reclaim"
"""Annotation of a pod or a PodGroup, by the operator alone: which pods end for it (L5)."""
STATUS: Final = "volcano.sh/card.status"
"""Annotation of a Queue, by the operator alone: the queue's numbers, where the installed definition
of Queues has no field for them."""

STAMP: Final = (ALLOCATED, CHARGED_QUEUE, TERM)
"""Pod annotations that say together what a pod is charged for."""

OURS_ON_PODS: Final = (ALLOCATED, CHARGED_QUEUE, TERM, SETTLE, RECLAIM_PLAN)
"""Pod annotations that only the operator may write, at create or later."""

OURS_ON_GROUPS: Final = (RESERVATION, SETTLE, RECLAIM_PLAN)
"""The same of a pod group."""

FIXED_ONCE_OPEN: Final = (
    CARD_NAME,
    CARD_NAME_ALIAS,
    QUEUE_NAME,
    QUEUE_NAME_VOLCANO_JOB,
    GROUP_NAME,
)
"""Pod annotations that do not change once the pod's gate is open."""

MANAGED: Final = "volcano.sh/card-managed"
"""Label of a pod, by the operator alone: `true` on pods that are gated or charged, and on some that
are admitted without a gate. The operator's annotations count only beside it, so that the API server
has to look at no write of the status of any other pod."""
IS_MANAGED: Final = "true"
"""Its value. Pods of earlier versions may have another."""

GATE: Final = "volcano.sh/card-quota"
"""Scheduling gate of a pod, by the operator alone: at it a pod waits for quota."""

PAUSED: Final = "cardquota.volcano.sh/paused"
"""Annotation of webhook configurations and policies, by `cardquota pause`: since when and by whom
they are passed by (U1). The match condition that has them passed by has the same name."""

FIELD_MANAGER: Final = "cardquota"
LEASE: Final = "cardquota"
DEPLOYMENT: Final = "cardquota"
AUDIT_RECORD: Final = "cardquota-audit"
"""The ConfigMap in the operator's namespace that says what audit mode would have refused."""
HANDOVER: Final = "volcano.sh/card.handover"
"""Annotation of the Lease, by the operator alone: between two leaders, what the former one had
seen."""
OPERATOR_NAMESPACE: Final = "cardquota-system"
SERVICE_ACCOUNT: Final = "cardquota"

# --- card memory: the protocol of the device plugin for shared cards -------------------------
GPU_MEMORY: Final = "aliyun.com/gpu-mem"
"""Resource name: memory of one card, in the node's unit."""
GPU_COUNT: Final = "aliyun.com/gpu-count"
"""Resource name: how many cards a node has whose memory is shared."""
GPU_PRODUCT: Final = "aliyun.accelerator/nvidia_name"
"""Label of a node: the product of the cards whose memory it shares."""
GPU_MEMORY_CARD: Final = "ALIYUN_COM_GPU_MEM_IDX"
"""Annotation of a pod, by the extender alone: the index of its card on the node."""
GPU_MEMORY_OF_POD: Final = "ALIYUN_COM_GPU_MEM_POD"
"""Annotation of a pod, by the extender alone: how much of the card's memory it holds."""
GPU_MEMORY_OF_CARD: Final = "ALIYUN_COM_GPU_MEM_DEV"
"""Annotation of a pod, by the extender alone: the memory of the whole card."""
GPU_MEMORY_ASSIGNED: Final = "ALIYUN_COM_GPU_MEM_ASSIGNED"
"""Annotation of a pod, by the extender and the device plugin: `false` until the latter has given
the pod its card, then `true`."""
GPU_MEMORY_ASSUMED_AT: Final = "ALIYUN_COM_GPU_MEM_ASSUME_TIME"
"""Annotation of a pod, by the extender and the device plugin: nanoseconds. The device plugin serves
the pods of a node in this order."""
BOUND: Final = "volcano.sh/card.bound"
"""Annotation of a pod, by the extender alone: `true` on what it has bound. `card.term` then says
nothing of the gate."""
WOKEN: Final = "volcano.sh/card.woken"
"""Annotation of a pod, by the operator alone: any value, written to have kube-scheduler try the pod
again."""
PLACEMENT: Final = (GPU_MEMORY_CARD, GPU_MEMORY_OF_POD, GPU_MEMORY_OF_CARD, BOUND, WOKEN)
"""Pod annotations that say which card it has. Only the operator writes them, if it binds."""
CARD_GIVEN: Final = (GPU_MEMORY_ASSIGNED, GPU_MEMORY_ASSUMED_AT)
"""Pod annotations that the device plugin rewrites when it gives a pod its card."""
CARD_MEMORY: Final = "volcano.sh/card.memory"
"""Annotation of a node: a JSON list, the memory of each card in the node's unit, where they
differ."""
UNHEALTHY_CARDS: Final = "volcano.sh/card.unhealthy"
"""Annotation of a node: the indexes of its broken cards, as `0,2`."""
UNHEALTHY_CARDS_OF: Final = "unhealthy-gpu-"
"""Name of the ConfigMap in kube-system that says the same, followed by the node's name."""
UNHEALTHY_CARDS_KEY: Final = "gpus"
"""Its key."""

# --- logical cards of the node agent ---------------------------------------------------------
SLOT: Final = "cardquota.volcano.sh/slot"
"""Resource name: a slot of a card."""
CARD_BIND: Final = "volcano.sh/card.bind"
"""Annotation of a pod: how the node agent chooses the cards of its containers, `balance` (default:
the least loaded one) or `same-pod` (one that the pod has already)."""

EXTENDER_ADDRESS: Final = "volcano.sh/card.extender"
"""Annotation of the Lease, by the operator alone: host and port of the leader's scheduler
extender."""
ENQUEUE_ADDRESS: Final = "volcano.sh/card.enqueue"
"""Annotation of the Lease, by the operator alone: host and port where the leader is asked which pod
groups to enqueue."""

API_GROUP: Final = "scheduling.volcano.sh"
VERSION: Final = "v1beta1"
REVIEW_GROUP: Final = "cardquota.volcano.sh"
"""API group of what is asked of us and never stored, and of the Term."""
REVIEW_VERSION: Final = "v1alpha1"
QUEUE_REVIEWS: Final = "queuereviews"
"""The resource by which somebody asks about a queue."""
WORKLOAD_REVIEWS: Final = "workloadreviews"
"""The resource by which somebody asks about a pod, a group or a workload."""
TERM_KIND: Final = "Term"
TERMS: Final = "terms"
"""The resource of the one object that names the current term for the API server's policies. It has
the name of the Lease, beside which it is."""
TERM_POLICIES: Final = ("gate-term", "reservation-term", "binding-term", "eviction-term")
"""The policies that compare a decision's term with it, without their prefix."""
FENCE_PROBE: Final = "cardquota-fence-probe"
"""A PodGroup that is created as a dry run alone, to see whether a term is accepted."""

CPU: Final = "cpu"
MEMORY: Final = "memory"
COMPUTE_RESOURCES: Final = (CPU, MEMORY)
"""What Kubernetes calls by that name: resource names, and the dimensions that are no cards."""


class Reason(StrEnum):
    """Why a request was refused or waits; also the reason of its event (section 9)."""

    INSUFFICIENT_CARD = "InsufficientCardQuota"
    INSUFFICIENT_CPU = "InsufficientCPUQuota"
    INSUFFICIENT_MEMORY = "InsufficientMemoryQuota"
    CARD_NOT_IN_QUOTA = "CardNotInQuota"
    QUEUE_NOT_FOUND = "QueueNotFound"
    QUEUE_NOT_OPEN = "QueueNotOpen"
    INVALID_CARD = "InvalidCardAnnotation"
    NODE_NAMED = "NodeNamedInSpec"
    DEVICE_CLAIMED = "DeviceClaimNotCounted"
    GROUP_NOT_FOUND = "PodGroupNotFound"
    GANG_INCOMPLETE = "PodGroupIncomplete"
    BEHIND = "BehindInQueue"
    NODE_WITHOUT_CARD = "NodeWithoutCard"
    CARD_UNCLEAR = "CardUnclear"
    TOO_MUCH_KEPT = "NotRead"
    GATE_REFUSED = "GateNotOpened"
    """A webhook or policy of others refuses to have the gate opened."""


RELEASED: Final = "QuotaReleased"
GATE_REFUSED: Final = Reason.GATE_REFUSED
RESERVATION_EXPIRED: Final = "ReservationExpired"
ENQUEUED: Final = "Enqueued"
NOT_COUNTED: Final = "CardsNotCounted"
CARD_MEMORY_UNREADABLE: Final = "CardMemoryUnreadable"
UNADMITTED: Final = "PodsNotAdmitted"
MODE_UNKNOWN: Final = "NamespaceModeUnknown"
WOKEN_CONDITION: Final = "volcano.sh/CardQuota"
"""Type of the condition by which we wake a workload's controller."""
QUOTA_FREE: Final = "QuotaFree"
SCALE_CUT: Final = "ScalePartlyGranted"
INSTALLATION_DIFFERS: Final = "InstallationDiffers"
INSTALLATION_RESTORED: Final = "InstallationRestored"
RECLAIMED: Final = "Reclaimed"
"""Event on a pod that ends for another queue, which deserves its cards (L4)."""
PREEMPTED: Final = "Preempted"
"""Event on a pod that ends for one of higher priority in its queue (L4)."""
NOT_GONE: Final = "StillNotGone"
"""Event on one of these that should have been gone for a minute (L5)."""
ROOM_MADE: Final = "RoomMade"
"""Event on who waits: pods end for it (L5)."""
RECLAIM_GAVE_UP: Final = "ReclaimGaveUp"
"""Event on who waits: it did not start though pods were ended for it (L5)."""
WOULD_RECLAIM: Final = "WouldReclaim"
"""Event on who waits: in another mode pods would end for it (L6)."""
FENCE_FAULT: Final = "FenceNotInForce"
"""Event on the Lease: the API server refuses decisions of the current term, or accepts others."""
FENCE_IN_FORCE: Final = "FenceInForce"


class Condition(StrEnum):
    """Condition types of a Queue."""

    QUOTA_VALID = "QuotaValid"
    OVER_QUOTA = "OverQuota"
    OVERSOLD = "Oversold"
    BORROWED = "Borrowed"


class RefusedWrite(StrEnum):
    """What somebody was refused who is not in `volcano.accounts` (V1)."""

    BINDING = "binding"
    GROUP = "group"


class Policy(StrEnum):
    """What happens to a pod that is over quota now but could fit later."""

    DENY = "Deny"
    GATE = "Gate"


class ReclaimMode(StrEnum):
    """What is done for who is owed cards that others hold (L6).

    `off`: nothing. `dryRun`: it is said which pods would be ended, and none is. `on`: they are.
    """

    OFF = "off"
    DRY_RUN = "dryRun"
    ON = "on"


class Mode(StrEnum):
    """How strictly the rules are applied to one pod, from the installation and its namespace."""

    ENFORCE = "enforce"
    AUDIT = "audit"
    OFF = "off"


NAMESPACE_ENFORCED: Final = "enforced"
NAMESPACE_AUDIT: Final = "audit"
NAMESPACE_OFF: Final = "off"
NAMESPACE_UNCOVERED: Final = "uncovered"
"""How a namespace without a label is read where only labelled ones are covered. No label's value:
it is not among those below."""
NAMESPACE_MODES: Final = (NAMESPACE_ENFORCED, NAMESPACE_AUDIT, NAMESPACE_OFF)
"""Values of the label NAMESPACE_MODE."""


class QueueState(StrEnum):
    """Volcano's queue states that matter to us (Q6). An absent state is Open."""

    OPEN = "Open"
    CLOSED = "Closed"
    CLOSING = "Closing"


class GroupPhase(StrEnum):
    """Phases of a pod group that we write where Volcano does not run."""

    PENDING = "Pending"
    INQUEUE = "Inqueue"
    RUNNING = "Running"
    UNKNOWN = "Unknown"
    COMPLETED = "Completed"


class GroupCondition(StrEnum):
    """Condition types of a pod group that we write where Volcano does not run. One at a time."""

    UNSCHEDULABLE = "Unschedulable"
    SCHEDULED = "Scheduled"
