"""What can never fit is refused at create, with the broken rule and the remedy."""

from ..context import Context


def each_refusal_says_why(context: Context) -> None:
    """Four pods, four reasons."""
    context.tenant.is_refused(
        "kubectl create -f five-cards.yaml",
        "Error from server (InsufficientCardQuota)",
        "requested <5>, total would be <8>, but capability is <3>",
        "ask for at most 3",
    )
    context.tenant.is_refused(
        "kubectl create -f card-outside-quota.yaml",
        "Error from server (CardNotInQuota)",
        "Queue <research> has insufficient <NVIDIA-GeForce-RTX-4090> quota",
        "its cards: NVIDIA-H200",
    )
    context.tenant.is_refused(
        "kubectl create -f unknown-card.yaml",
        "Error from server (InvalidCardAnnotation)",
        "card <NVIDIA-H2000> is not known",
        "correct volcano.sh/card.name",
    )
    context.tenant.is_refused(
        "kubectl create -f missing-queue.yaml",
        "Error from server (QueueNotFound)",
        "Queue <reserach> does not exist",
        "name one that does",
    )
