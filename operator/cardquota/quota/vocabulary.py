"""Every key, gate, reason and condition name that people and other programs can see.

`messages` has the sentences that people read. Nothing here is computed: changing a name here
changes a public interface.
"""

from enum import StrEnum
from typing import Final

# --- annotations that users write ------------------------------------------------------------
QUOTA: Final = "volcano.sh/card.quota"
POLICY: Final = "volcano.sh/card.policy"
NAMESPACES: Final = "volcano.sh/card.namespaces"
QUEUE_STATE: Final = "volcano.sh/card.state"
SURGE: Final = "volcano.sh/card.surge"
REQUEST: Final = "volcano.sh/card.request"
CARD_NAME: Final = "volcano.sh/card.name"
CARD_NAME_ALIAS: Final = "volcano.sh/card.card"
QUEUE_NAME: Final = "scheduling.volcano.sh/queue-name"
QUEUE_NAME_VOLCANO_JOB: Final = "volcano.sh/queue-name"
GROUP_NAME: Final = "scheduling.k8s.io/group-name"
TASK: Final = "volcano.sh/task-spec"
"""Annotation of a pod: its task, as Volcano's Jobs write it."""

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

# --- annotations that only the operator writes ----------------------------------------------
ALLOCATED: Final = "volcano.sh/card.allocated"
CHARGED_QUEUE: Final = "volcano.sh/card.queue"
TERM: Final = "volcano.sh/card.term"
"""The term that decided. Without the other two keys: audit mode let the pod by (I3)."""
SETTLE: Final = "volcano.sh/card.settle"
"""Of a pod, and beside Volcano of a pod group: another one with each write that rules out all
earlier ones."""
RESERVATION: Final = "volcano.sh/card.reservation"
STATUS: Final = "volcano.sh/card.status"

STAMP: Final = (ALLOCATED, CHARGED_QUEUE, TERM)
"""Pod annotations that say together what a pod is charged for."""

OURS_ON_PODS: Final = (ALLOCATED, CHARGED_QUEUE, TERM, SETTLE)
"""Pod annotations that only the operator may write, at create or later."""

OURS_ON_GROUPS: Final = (RESERVATION, SETTLE)
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
"""Label of a pod that we gate or charge, and of some that we admit without a gate. Only the
operator changes it. A stamp counts only beside it, so that the API server has to look at no write
of the status of any other pod."""
IS_MANAGED: Final = "true"
"""Its value. Pods of earlier releases may have another."""

GATE: Final = "volcano.sh/card-quota"
"""The scheduling gate at which a pod waits for quota."""

FIELD_MANAGER: Final = "cardquota"
LEASE: Final = "cardquota"
DEPLOYMENT: Final = "cardquota"
HANDOVER: Final = "volcano.sh/card.handover"
"""On the Lease, between two leaders: what the former leader had seen."""
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
"""On a pod: the index of its card on the node."""
GPU_MEMORY_OF_POD: Final = "ALIYUN_COM_GPU_MEM_POD"
"""On a pod: how much of the card's memory it holds."""
GPU_MEMORY_OF_CARD: Final = "ALIYUN_COM_GPU_MEM_DEV"
"""On a pod: the memory of the whole card."""
GPU_MEMORY_ASSIGNED: Final = "ALIYUN_COM_GPU_MEM_ASSIGNED"
"""On a pod: `false` until the device plugin has given it the card, then `true`."""
GPU_MEMORY_ASSUMED_AT: Final = "ALIYUN_COM_GPU_MEM_ASSUME_TIME"
"""On a pod: nanoseconds. The device plugin serves the pods of a node in this order."""
BOUND: Final = "volcano.sh/card.bound"
"""On a pod that our extender has bound: `true`. Its TERM then says nothing of its gate."""
WOKEN: Final = "volcano.sh/card.woken"
"""On a pod: any value. Written to have kube-scheduler try the pod again."""
PLACEMENT: Final = (GPU_MEMORY_CARD, GPU_MEMORY_OF_POD, GPU_MEMORY_OF_CARD, BOUND, WOKEN)
"""Pod annotations that say which card it has. Only the operator writes them, if it binds."""
CARD_GIVEN: Final = (GPU_MEMORY_ASSIGNED, GPU_MEMORY_ASSUMED_AT)
"""Pod annotations that the device plugin rewrites when it gives a pod its card."""
CARD_MEMORY: Final = "volcano.sh/card.memory"
"""On a node: a JSON list, the memory of each card in the node's unit, where they differ."""
UNHEALTHY_CARDS: Final = "volcano.sh/card.unhealthy"
"""On a node: the indexes of its broken cards, as `0,2`."""
UNHEALTHY_CARDS_OF: Final = "unhealthy-gpu-"
"""Name of the ConfigMap in kube-system that says the same, followed by the node's name."""
UNHEALTHY_CARDS_KEY: Final = "gpus"
"""Its key."""

EXTENDER_ADDRESS: Final = "volcano.sh/card.extender"
"""On the Lease: host and port of the leader's scheduler extender."""
ENQUEUE_ADDRESS: Final = "volcano.sh/card.enqueue"
"""On the Lease: host and port where the leader is asked which pod groups to enqueue."""

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
TERM_POLICIES: Final = ("gate-term", "reservation-term", "binding-term")
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


class Mode(StrEnum):
    """How strictly the rules are applied to one pod, from the installation and its namespace."""

    ENFORCE = "enforce"
    AUDIT = "audit"
    OFF = "off"


NAMESPACE_ENFORCED: Final = "enforced"
NAMESPACE_AUDIT: Final = "audit"
NAMESPACE_OFF: Final = "off"
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
