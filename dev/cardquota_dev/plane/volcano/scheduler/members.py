"""The pods of one pod group, as a session sees them. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from ..api_objects import TASK_SPEC, Json, annotations, is_deleted, key, phase, uid
from ..resource_amounts import Amounts, counted, pod_requests, total


class MemberState(Enum):
    """How far a pod has come."""

    GATED = auto()
    """It has scheduling gates: it is skipped, and holds nothing."""
    PENDING = auto()
    ALLOCATED = auto()
    """It has a node, or is just being bound."""
    RUNNING = auto()
    RELEASING = auto()
    """It is being deleted. It still holds its node."""
    SUCCEEDED = auto()
    FAILED = auto()


HOLDING = (MemberState.ALLOCATED, MemberState.RUNNING)
READY = (*HOLDING, MemberState.SUCCEEDED)
"""What counts for the minimum of a group."""


@dataclass(frozen=True)
class GangMember:
    """One pod."""

    pod: Json
    state: MemberState
    node: str
    """Where it is, or is being bound to. Empty: nowhere."""

    @cached_property
    def requests(self) -> Amounts:
        """What it requests, of what the scheduler counts."""
        return counted(pod_requests(self.pod["spec"]))

    @property
    def role(self) -> str:
        """The task it is of. Empty for pods without a job, which are all of one role then."""
        return annotations(self.pod).get(TASK_SPEC, "")


def member(pod: Json, bound_to: str = "") -> GangMember:
    """A pod. `bound_to`: the node that it is just being bound to."""
    node = str(pod["spec"].get("nodeName") or bound_to)
    return GangMember(pod, _state(pod, node), node)


def _state(pod: Json, node: str) -> MemberState:
    match phase(pod):
        case "Succeeded":
            return MemberState.SUCCEEDED
        case "Failed":
            return MemberState.FAILED
    if is_deleted(pod):
        return MemberState.RELEASING
    if node:
        return MemberState.RUNNING if phase(pod) == "Running" else MemberState.ALLOCATED
    return MemberState.GATED if pod["spec"].get("schedulingGates") else MemberState.PENDING


def job_info(group: Json, members: Iterable[GangMember], priority: int = 0) -> Json:
    """What an extender is told of a group: Volcano's own record of a job, as far as it is known."""
    everyone = list(members)
    return {
        "UID": key(group),
        "PgUID": uid(group),
        "Name": group["metadata"]["name"],
        "Namespace": group["metadata"]["namespace"],
        "Queue": group["spec"].get("queue") or "default",
        "Priority": priority,
        "MinAvailable": group["spec"].get("minMember", 0),
        "Tasks": {
            uid(one.pod): {
                "UID": uid(one.pod),
                "Job": key(group),
                "Name": one.pod["metadata"]["name"],
                "Namespace": one.pod["metadata"]["namespace"],
                "TaskRole": one.role,
                "NodeName": one.node,
                "Pod": one.pod,
            }
            for one in everyone
        },
        "TotalRequest": _resource(total(one.requests for one in everyone)),
        "PodGroup": {
            "metadata": group["metadata"],
            "spec": group["spec"],
            "status": {"phase": phase(group) or "Pending"},
            "Version": "v1beta1",
        },
    }


def _resource(held: Amounts) -> Json:
    """Amounts as Volcano's scheduler has them: millicores, bytes, thousandths of all else."""
    scalars = {one: amount for one, amount in held.items() if one not in ("cpu", "memory", "pods")}
    return {
        "MilliCPU": held.get("cpu", 0),
        "Memory": held.get("memory", 0) // 1000,
        "ScalarResources": scalars or None,
        "MaxTaskNum": held.get("pods", 0) // 1000,
    }
