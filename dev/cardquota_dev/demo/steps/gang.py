"""Training waits: its pods exist, gated, and start together."""

from datetime import datetime, timedelta

from ..command_result import CommandResult, Expectation, row, rows, says
from ..context import Context

_PODS = "kubectl get pods -l batch.kubernetes.io/job-name={}"
CHARGED_PODS = (
    f"{_PODS} -o custom-columns='"
    "POD:.metadata.name,PHASE:.status.phase,STARTED:.status.startTime,"
    r"CHARGED:.metadata.annotations.volcano\.sh/card\.allocated'"
)
"""Of a Job: since when its pods run, and what they are charged."""

_APART = timedelta(seconds=2)
"""startTime has whole seconds, so two pods of one instant may get different ones."""


def a_gang_waits_and_starts(context: Context) -> None:
    """Without room for two both wait. With room for two both run."""
    context.tenant.does("kubectl apply -f gang.yaml", says("job.batch/train created"))
    context.tenant.sees(_PODS.format("train"), rows(2, STATUS="SchedulingGated"))
    context.tenant.sees(
        "kubectl get events --field-selector involvedObject.kind=PodGroup",
        says("podgroup/train", "requested <2>, total would be <5>, but capability is <3>"),
    )
    context.tenant.sees(
        "kubectl cardquota explain job train",
        says("Job default/train: waits", "requested <2>, total would be <5>"),
        says("Deployment/chat: NVIDIA-H200 3", "another card of the queue: NVIDIA-H800 (2 left)"),
    )
    context.admin.sees(
        "kubectl cardquota queue research",
        says("Deployment/chat", "PodGroup/train", "InsufficientCardQuota"),
    )
    context.screen.says("\nThe Deployment makes room for two:")
    context.tenant.does("kubectl scale deployment chat --replicas=1")
    context.tenant.sees(
        CHARGED_PODS.format("train"),
        rows(2, PHASE="Running", CHARGED='{"NVIDIA-H200": 1}'),
        both_started_at_once(),
    )
    context.tenant.sees("kubectl get podgroup train", row(NAME="train", PHASE="Running"))
    context.tenant.sees(
        "kubectl get events --field-selector reason=QuotaReleased", rows(2, REASON="QuotaReleased")
    )


def both_started_at_once() -> Expectation:
    """All pods of the table have the same start time, or nearly."""

    def met(answer: CommandResult) -> bool:
        try:
            times = [datetime.fromisoformat(found["STARTED"]) for found in answer.rows]
        except (KeyError, ValueError):
            return False
        return bool(times) and max(times) - min(times) <= _APART

    return Expectation("both started at once", met)
