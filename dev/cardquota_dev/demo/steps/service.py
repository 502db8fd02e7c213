"""A service that scales out gets its answer at once."""

from ..command_result import row, rows, says
from ..context import Context

TOO_MANY = (
    "Queue <research> has insufficient <NVIDIA-H200> quota: "
    "requested <1>, total would be <4>, but capability is <3>"
)


def a_deployment_runs(context: Context) -> None:
    """Two pods fit."""
    context.tenant.does("kubectl apply -f deployment.yaml", says("deployment.apps/chat created"))
    context.tenant.sees("kubectl get pods -l app=chat", rows(2, STATUS="Running"))
    context.tenant.sees("kubectl get queue research", row(CARDS="NVIDIA-H200 2/3"))


def a_deployment_asks_for_more(context: Context) -> None:
    """A third pod fits; then a warning at the edit, and the fourth refused with the same sentence.

    Not both at once: a review does not count a pod that was let in a moment before (E2).
    """
    context.tenant.does("kubectl scale deployment chat --replicas=3", says("chat scaled"))
    context.tenant.sees("kubectl get pods -l app=chat", rows(3, STATUS="Running"))
    context.tenant.does(
        """kubectl patch deployment chat -p '{"spec":{"replicas":4}}'""",
        says("Warning: chat: 3 of 4 pods fit the quota now", f"Warning: {TOO_MANY}"),
    )
    context.tenant.sees("kubectl get pods -l app=chat", rows(3, STATUS="Running"))
    context.tenant.sees("kubectl get replicasets", row(DESIRED="4", CURRENT="3", READY="3"))
    context.tenant.sees(
        "kubectl get events --field-selector reason=FailedCreate", says("replicaset/chat", TOO_MANY)
    )
    context.tenant.sees("kubectl get queue research", row(CARDS="NVIDIA-H200 3/3"))
