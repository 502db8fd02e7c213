"""Quotas are annotations of Queues: an administrator writes them, all users see them."""

from ..command_result import row, says
from ..context import Context


def queues_get_quotas(context: Context) -> None:
    """Two queues appear, and their cards as used/quota."""
    context.admin.does("kubectl get nodes -L nvidia.com/gpu.product")
    context.admin.does("kubectl apply -f queues.yaml", says("queue.scheduling.volcano.sh/research"))
    context.admin.sees(
        "kubectl get queues",
        row(NAME="research", STATE="Open", CARDS="NVIDIA-H200 0/3"),
        row(NAME="research", CARDS="NVIDIA-H800 0/2"),
        row(NAME="vision", STATE="Open", CARDS="NVIDIA-GeForce-RTX-4090 0/3"),
    )


def a_broken_quota_is_refused(context: Context) -> None:
    """The unreadable text is refused; the quota stays as it was."""
    context.admin.is_refused(
        "kubectl apply -f broken-queue.yaml",
        "annotation volcano.sh/card.quota cannot be read",
        "the amount of <NVIDIA-H200> is a string, not a whole number",
    )
    context.screen.says("\nThe old quota stays in force:")
    context.admin.sees("kubectl get queue research", row(NAME="research", CARDS="NVIDIA-H200 3/3"))
