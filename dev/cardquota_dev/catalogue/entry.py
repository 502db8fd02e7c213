"""One message of the catalogue: an example, and what users want to know about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, ParamSpec

from .sentences import sentences

P = ParamSpec("P")


class Where(StrEnum):
    """Where users meet a message."""

    REFUSAL = "refusal of a new pod"
    RESIZE = "refusal of `pods/resize`"
    DELETION = "refusal to delete a Queue"
    QUEUE_WRITE = "refusal to write a Queue"
    GROUP_WRITE = "refusal to write a PodGroup"
    JOB_WRITE = "refusal to write a Job of Volcano"
    AGAIN = "answer 429: clients try again by themselves"
    POD_EVENT = "event on a pod at the gate, and the leader's log"
    GANG_EVENT = "event on the PodGroup and on its pods"
    GROUP_EVENT = "event on the PodGroup, and the leader's log"
    EVENT = "event on the pod"
    QUEUE_EVENT = "event on the Queue"
    NODE_EVENT = "event on the Node, and the leader's log"
    NAMESPACE_EVENT = "event on the Namespace, and the leader's log"
    INSTALLATION = "event on the operator's Namespace, log and `/readyz` of every replica"
    FENCE = "event on the operator's Lease, status of its Term, log and `/readyz` of the leader"
    LOG = "the log of the replica"
    READY = "`/readyz` and log of the replica"
    CONDITION = "condition of the Queue"
    GROUP_CONDITION = "condition of the PodGroup"
    WARNING = "`Warning:` on a pod"
    QUEUE_WARNING = "`Warning:` on a Queue"
    GROUP_WARNING = "`Warning:` on a PodGroup"
    JOB_WARNING = "`Warning:` on a Job of Volcano"
    SCHEDULING = "event FailedScheduling of kube-scheduler on the pod"
    BINDING = "event FailedScheduling of kube-scheduler on the pod, and its log"
    SCALE = "refusal of `*/scale`"
    RESCALE = "event FailedRescale on a HorizontalPodAutoscaler"
    SCALE_WARNING = "`Warning:` on `*/scale`"
    WORKLOAD_CONDITION = "condition `volcano.sh/CardQuota` of a workload"
    WORKLOAD_EVENT = "event on the workload"
    CHECK_ONLY = "`kubectl cardquota check`"
    QUESTION = "refusal to answer a QueueReview or WorkloadReview"
    ANSWER = "answer to a WorkloadReview: `kubectl cardquota explain`"
    WORKLOAD = "`Warning:` on a Deployment, Job or other workload"


POD: Final = (Where.REFUSAL, Where.POD_EVENT)
"""Messages of refusals at create, which pods at the gate also get as events."""


class Said(str):
    """A text, and the names in `messages` that produced it."""

    __slots__ = ("names",)
    names: frozenset[str]

    def __new__(cls, text: str, names: Iterable[str]) -> "Said":
        """The text itself, which is a string like any other."""
        said = super().__new__(cls, text)
        said.names = frozenset(names)
        return said


def say(function: Callable[P, str], *args: P.args, **kwargs: P.kwargs) -> Said:
    """The result of a function of `messages`. Arguments, or items of a list argument, may be
    results of such functions.
    """
    names = {function.__name__}
    for argument in (*args, *kwargs.values()):
        for said in argument if isinstance(argument, list) else (argument,):
            if isinstance(said, Said):
                names |= said.names
    return Said(function(*args, **kwargs), names)


def constant(name: str) -> Said:
    """A constant of `messages`. Raises KeyError if there is none."""
    return Said(str(dict(sentences())[name]), {name})


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One message. `under`: its reason, the condition it explains, or a heading of its own."""

    under: str
    when: str
    says: Said
    where: tuple[Where, ...]
    rule: str
    do: str
