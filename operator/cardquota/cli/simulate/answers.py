"""The results of a simulation as plain data: `simulate` prints them, also as JSON."""

from dataclasses import dataclass, field
from enum import StrEnum

from ...quota.amounts import Amounts
from ...quota.reports.queue_report import QueueReport


class Answer(StrEnum):
    """The fate of a pod."""

    ADMITTED = "admitted"
    """Its gate was opened: it is charged."""
    GATED = "gated"
    """Created, and waiting at its gate."""
    DENIED = "denied"
    """Refused at create."""
    UNMANAGED = "unmanaged"
    """Created without a gate: it is in no queue, nothing is enforced where it is, or the webhook
    does not see it."""


@dataclass(slots=True)
class PodAnswer:
    """One pod. Fields are empty if they do not apply."""

    name: str
    answer: Answer = Answer.GATED
    queue: str = ""
    reason: str = ""
    """The reason of the event or refusal: `InsufficientCardQuota`."""
    text: str = ""
    """Why, in a sentence."""
    cards: Amounts = field(default_factory=dict)
    """What it is charged for."""
    node: str = ""
    pending: str = ""
    """Why it has no node although it is not gated by us."""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class WorkloadAnswer:
    """One workload and its pods, in the order of creation."""

    kind: str
    namespace: str
    name: str
    pods: list[PodAnswer] = field(default_factory=list)
    note: str = ""
    """Why it has no pods."""


@dataclass(slots=True, frozen=True)
class RefusedObject:
    """An object that the webhook would refuse, and why."""

    kind: str
    name: str
    text: str


@dataclass(slots=True)
class Answers:
    """All results."""

    workloads: list[WorkloadAnswer] = field(default_factory=list)
    queues: list[QueueReport] = field(default_factory=list)
    refused: list[RefusedObject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
