"""Groups that say what they will ask for: the card is reserved before there is a pod."""

from ..command_result import row, rows, says
from ..context import Context
from .gang import CHARGED_PODS, both_started_at_once

_PHASES = "kubectl get podgroups -o custom-columns=NAME:.metadata.name,PHASE:.status.phase"


def groups_are_refused_reserved_or_wait(context: Context) -> None:
    """One is refused. One has its cards before its pods, and starts whole. One waits for it."""
    context.tenant.is_refused(
        "kubectl create -f group-too-large.yaml",
        "Error from server (InsufficientCardQuota)",
        "requested <4>, total would be <4>, but capability is <2>",
        "ask for at most 2",
    )
    context.tenant.does("kubectl apply -f pretrain-group.yaml", says("pretrain created"))
    context.tenant.sees(_PHASES, row(NAME="pretrain", PHASE="Inqueue"))
    context.tenant.sees("kubectl get queue research", row(INQUEUE="NVIDIA-H800 2"))
    context.tenant.does("kubectl apply -f finetune-group.yaml", says("finetune created"))
    context.tenant.sees(
        "kubectl get events --field-selector involvedObject.name=finetune",
        says("podgroup/finetune", "requested <2>, total would be <4>, but capability is <2>"),
    )
    context.screen.says("\nThe pods of the first one start in what is reserved for it:")
    context.tenant.does("kubectl apply -f pretrain-job.yaml", says("job.batch/pretrain created"))
    context.tenant.sees(
        CHARGED_PODS.format("pretrain"),
        rows(2, CHARGED='{"NVIDIA-H800": 1}'),
        both_started_at_once(),
    )
    context.screen.says("\nWhen they have ended it is the second one's turn:")
    context.tenant.sees(_PHASES, row(NAME="finetune", PHASE="Inqueue"))
    context.tenant.sees(
        "kubectl get queue research", row(CARDS="NVIDIA-H800 0/2", INQUEUE="NVIDIA-H800 2")
    )
