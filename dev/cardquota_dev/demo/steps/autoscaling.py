"""An autoscaler gets what fits, is told why it gets no more, and gives back."""

from ..command_result import row, rows, says
from ..context import Context

_CARD = "NVIDIA-GeForce-RTX-4090"
_JOB = "kubectl get pods -l batch.kubernetes.io/job-name=label"


def an_autoscaler_gets_three_of_ten(context: Context) -> None:
    """Its pods are busy: it wants ten, and the quota is three."""
    context.tenant.does(
        "kubectl apply -f detect.yaml",
        says(
            "deployment.apps/detect created", "horizontalpodautoscaler.autoscaling/detect created"
        ),
    )
    context.tenant.sees("kubectl get pods -l app=detect", rows(3, STATUS="Running"))
    context.tenant.sees(
        "kubectl get events --field-selector reason=ScalePartlyGranted",
        says(
            "deployment/detect",
            f"granted 3 of 10 replicas: Queue <vision> has insufficient <{_CARD}>",
        ),
    )
    context.tenant.sees(
        "kubectl get events --field-selector reason=FailedRescale",
        says(
            "horizontalpodautoscaler/detect",
            f"Queue <vision> has insufficient <{_CARD}> quota: requested <7>, "
            "total would be <10>, but capability is <3>",
            "3 of 10 replicas of Deployment <detect> fit",
        ),
    )
    context.tenant.is_refused(
        "kubectl scale deployment detect --replicas=5",
        "3 of 5 replicas of Deployment <detect> fit: scale it to 3 at most",
    )


def what_it_gives_back_starts_a_job(context: Context) -> None:
    """The load falls, and the job that waits for two of its cards starts."""
    context.tenant.does("kubectl apply -f label-job.yaml", says("job.batch/label created"))
    context.tenant.sees(_JOB, rows(2, STATUS="SchedulingGated"))
    context.admin.does(
        """kubectl annotate namespace default cardquota.dev/usage='{"cpu": "1m"}'""",
        says("namespace/default annotated"),
    )
    context.tenant.sees(_JOB, rows(2, STATUS="Running"))
    context.tenant.sees("kubectl get deployment detect", row(READY="1/1"))
    context.tenant.sees("kubectl get queue vision", row(CARDS=f"{_CARD} 3/3"))
