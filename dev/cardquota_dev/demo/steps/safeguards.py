"""Safeguards: only the operator opens gates, and every number can be recounted."""

from ..agreement import until_all_agree
from ..command_result import row, rows
from ..context import Context

_PODS = "kubectl get pods -l batch.kubernetes.io/job-name=tune"


def nobody_opens_a_gate_and_the_numbers_are_exact(context: Context) -> None:
    """One more pod waits. Its gate stays shut. Pods, events and status agree."""
    context.tenant.does("kubectl apply -f one-more.yaml")
    context.tenant.sees(_PODS, rows(1, STATUS="SchedulingGated"))
    pod = context.tenant.reads(_PODS)["items"][0]["metadata"]["name"]
    context.tenant.is_refused(
        f"kubectl patch pod {pod} --type=json "
        """-p '[{"op": "remove", "path": "/spec/schedulingGates"}]'""",
        "Error from server (Forbidden)",
        "may not remove the scheduling gate volcano.sh/card-quota",
    )
    context.tenant.sees("kubectl get pods", row(NAME=pod, STATUS="SchedulingGated"))
    context.admin.sees(
        "kubectl get queues -o wide",
        row(NAME="research", CARDS="NVIDIA-H200 3/3", REQUESTED="NVIDIA-H200 4"),
        row(NAME="vision", CARDS="NVIDIA-GeForce-RTX-4090 3/3"),
    )
    context.screen.says("\nPods, status and events agree:")
    for line in until_all_agree(context.admin):
        context.screen.says(f"  {line}")
