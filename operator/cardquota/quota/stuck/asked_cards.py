"""What a pod asks for, as findings show it."""

from ..pods.pod_request import PodRequest
from ..words import listed


def asked_cards(request: PodRequest | None, pods: int = 1) -> dict[str, int]:
    """By its card, or its choice of cards, of which some are named: how many so many pods ask for
    together.
    """
    if request is None or not request.cards or not request.amount:
        return {}
    return {listed(request.cards, "|"): request.amount * pods}
