"""Real containers: the card that the extender chose is the card that the container gets."""

from cardquota.quota import vocabulary as v

from ..command_result import row, says
from ..context import Context

_PODS = ("speech-a", "speech-b")


def containers_see_the_card_of_their_pod(context: Context) -> None:
    """Two pods of equal memory, created at once: the kubelet does not tell which one it starts."""
    if context.node_lacks:
        context.screen.says(f"Left out on this machine: {context.node_lacks}")
        return
    context.admin.does("kubectl apply -f speech-queue.yaml", says("queue", "speech created"))
    context.tenant.does("kubectl apply -f speech.yaml", *(says(f"pod/{pod}") for pod in _PODS))
    for pod in _PODS:
        context.tenant.sees(f"kubectl get pod {pod}", row(STATUS="Running"))
    context.screen.says("\nTheir program prints its environment:")
    for pod in _PODS:
        annotation = context.tenant.reads(f"kubectl get pod {pod}")["metadata"]["annotations"]
        card = annotation[v.GPU_MEMORY_CARD]
        context.screen.says(f"\nAnnotation of {pod}: {v.GPU_MEMORY_CARD}: {card}")
        context.tenant.sees(f"kubectl logs {pod} --tail=7", says(f"\n{v.GPU_MEMORY_CARD}={card}\n"))
