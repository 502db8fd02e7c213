"""What holds quota, or waits, without anybody noticing (R7). Names of objects stand before it."""

from collections.abc import Sequence
from typing import Final

from ..amounts import Amount
from ..words import counted, lasting, show
from .phrases import held_text

NODE_GONE: Final = "is gone"
NODE_NOT_READY: Final = "is not ready"
NODE_READY: Final = "is ready, and still says that it runs"
NODE_NOT_KNOWN: Final = "is not known to be ready, since not all nodes could be read"
NO_NODE: Final = "it has no node, so a finalizer keeps it"

ADVICE_DEAD_NODE: Final = (
    "once the machine is known to be off for good, use `kubectl delete pod --force "
    "--grace-period=0`, or the taint node.kubernetes.io/out-of-service on the node; a finalizer "
    "may keep it as well"
)
ADVICE_GONE_NODE: Final = (
    "Kubernetes itself deletes pods of a node that is gone, so a finalizer probably keeps this "
    "one: ask whoever set it to remove it; if there is none, and the machine is known to be off "
    "for good, use `kubectl delete pod --force --grace-period=0`"
)
ADVICE_READY_NODE: Final = (
    "look for a finalizer on the pod, or a volume or process that does not end (`kubectl describe "
    "pod`, the kubelet's log); do not force the deletion: the pod may still use its cards"
)
ADVICE_NO_NODE: Final = "ask whoever set the finalizer to remove it"
ADVICE_UNKNOWN_NODE: Final = "see how its node is (`kubectl get node`)"
ADVICE_GATED: Final = (
    "free what it waits for, have the quota raised, or delete the pod if nobody needs it"
)
ADVICE_GATED_OTHERS: Final = "do what the message says, or delete the pod if nobody needs it"
ADVICE_DENIED: Final = "free what it asks for, have the quota raised, or scale it down to what fits"
ADVICE_DENIED_OTHERS: Final = (
    "do what the message says, or scale it down if nobody needs the missing pods"
)

GATE_HELD_BACK: Final = (
    "the API server or a webhook refused to open its gate; its event GateNotOpened says which; "
    "cardquota tries again"
)
START_UNDER_WAY: Final = (
    "it is about to be let through, or its group is being written; look again in a minute"
)
NOT_ENFORCED: Final = (
    "no quota is enforced in its namespace, so its gate is opened as soon as a replica leads; see "
    "that one does (metric cardquota_leader)"
)
NOT_JUDGED: Final = (
    "the reason is not known here, since not everything that it depends on could be listed; "
    "`kubectl describe` shows the latest event"
)
NO_QUOTA_REFUSES: Final = (
    "no quota refuses its next pod, so its controller has not tried again, or something else "
    "refuses the pod; if it stays so, its events say what"
)
TEMPLATE_NOT_KEPT: Final = (
    "its pod template is too large to be kept, so the reason is not known here; its events say it"
)


def late_to_end(queue: str, held: Sequence[Amount], late: int) -> str:
    """A pod that is being deleted is still there. `held`: what it holds. `late`: seconds."""
    return (
        f"should have ended <{lasting(late)}> ago, and still holds {held_text(held)} of Queue "
        f"<{show(queue)}>"
    )


def of_node(node: str, state: str) -> str:
    """How the node of such a pod stands: one of the constants above."""
    return f"its node <{show(node)}> {state}"


def long_at_the_gate(waited: int) -> str:
    """A pod has waited for long. `waited`: seconds."""
    return f"has waited at its gate for <{lasting(waited)}>"


def lacks_pods(deployment: str, missing: int, wanted: int, since: int | None) -> str:
    """A workload lacks pods since some were refused. `deployment`: whose ReplicaSet it is; empty
    for others. `since`: seconds.
    """
    whose = f" of Deployment <{show(deployment)}>" if deployment else ""
    long = f" for <{lasting(since)}>" if since is not None else ""
    pods = f"<{missing}> of {counted(wanted, 'pod')}{whose}"
    return f"has lacked {pods}{long}, since they were refused"


def room_now(queue: str) -> str:
    """The pod fits as things stand."""
    return (
        f"Queue <{show(queue)}> has room for it now, so others come before it, or no replica "
        "leads; see who else waits, and that a replica leads (metric cardquota_leader)"
    )


def room_may_be_set_aside(queue: str, wait: float) -> str:
    """The same, and one that comes before it has waited long for one of its cards. `wait`: from how
    many seconds on room is set aside (E6).
    """
    return (
        f"Queue <{show(queue)}> has room for it now, but one that comes before it has waited for "
        f"its cards for more than <{lasting(int(wait))}>: what is free may be set aside for that "
        "one, and then an event says so; wait too, or ask the queue's owner for a higher quota"
    )


def would_be_admitted(queue: str) -> str:
    """The next pod of a workload would not be refused."""
    return (
        f"Queue <{show(queue)}> has room for its next pod now, so its controller has not tried "
        "again, or something else refuses the pod; if it stays so, its events say what"
    )


def would_wait(text: str) -> str:
    """The next pod of a workload would not be refused: it would wait at the gate. `text`: why."""
    return (
        f"its next pod would be created and wait at the gate: {text}; its controller has not tried "
        "again, or something else refuses the pod; if it stays so, its events say what"
    )
