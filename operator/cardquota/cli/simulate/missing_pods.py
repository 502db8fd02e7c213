"""The pods that a workload still lacks, where some of them are there already."""

from collections.abc import Container, Sequence

from ...quota.objects.pod import Pod
from ...quota.selectors.selector import NODE_NAME, Selector
from ..files.inventory import VOLCANO_JOB
from .live_objects import is_finished


def missing_pods(kind: str, wanted: Sequence[Pod], there: Sequence[Pod]) -> tuple[Pod, ...]:
    """Those of the pods that a workload wants for which none is there.

    By name where names are fixed, by node for a DaemonSet, else by number, as its controller counts
    them: of a ReplicaSet one that is being deleted is replaced at once.
    """
    if kind == VOLCANO_JOB:
        return _not_named(wanted, {pod.metadata.name for pod in there})
    unfinished = [pod for pod in there if not is_finished(pod)]
    if kind == "StatefulSet":
        return _not_named(wanted, {pod.metadata.name for pod in unfinished})
    if kind == "DaemonSet":
        nodes = {_node_of(pod) for pod in unfinished}
        return tuple(pod for pod in wanted if _node_of(pod) not in nodes)
    if kind in ("Deployment", "ReplicaSet"):
        unfinished = [pod for pod in unfinished if pod.metadata.deletion_timestamp is None]
    return tuple(wanted[len(unfinished) :])


def _node_of(pod: Pod) -> str:
    """The node that a pod has, or that a DaemonSet's controller made it for; empty: none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    for term in Selector.of(pod.spec).terms or ():
        for expression in term.match_fields or ():
            if expression.key == NODE_NAME and expression.values:
                return expression.values[0]
    return ""


def _not_named(wanted: Sequence[Pod], names: Container[str]) -> tuple[Pod, ...]:
    return tuple(pod for pod in wanted if pod.metadata.name not in names)
