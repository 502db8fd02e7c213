"""Pods that share cards by memory: packed onto one card, and told why they do not fit."""

from ..command_result import row, rows, says
from ..context import Context

_CARDS = (
    "kubectl get pods -l app=embed -o "
    r"custom-columns='POD:.metadata.name,NODE:.spec.nodeName,"
    r"CARD:.metadata.annotations.ALIYUN_COM_GPU_MEM_IDX'"
)


def small_pods_share_a_card(context: Context) -> None:
    """Three on one card, a large one on the other; one more fits in sum, and on no card."""
    context.admin.does("kubectl apply -f share-node.yaml", says("node/share-1 created"))
    context.tenant.does("kubectl apply -f embed.yaml", says("deployment.apps/embed created"))
    context.tenant.sees(_CARDS, rows(3, NODE="share-1", CARD="0"))
    context.tenant.does("kubectl apply -f rerank.yaml", says("pod/rerank created"))
    context.tenant.sees("kubectl get pod rerank", row(STATUS="Running"))
    context.tenant.does("kubectl apply -f translate.yaml", says("pod/translate created"))
    context.tenant.sees(
        "kubectl get events --field-selector involvedObject.name=translate",
        says("FailedScheduling", "1 no single card has 8138 MiB free"),
    )
    context.admin.sees(
        "kubectl cardquota inspect",
        says("12207/16276 MiB", "default/translate", "Total: 24414/"),
    )
    context.screen.says("\nOne of the small ones goes, and there is a card with room:")
    context.tenant.does("kubectl scale deployment embed --replicas=2", says("scaled"))
    context.tenant.sees("kubectl get pod translate", row(STATUS="Running"))
