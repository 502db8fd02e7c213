"""What a rolling update needs to begin where the quota is full (E2)."""

from .account import Account
from .own_pods import OwnPods, charged
from .pod_request import PodRequest
from .room import room_for


def must_go_first(account: Account, request: PodRequest, own: OwnPods) -> int | None:
    """How many of a workload's own pods must be gone before one of this request has room.

    None: even without all of them there is none. Which of them go first is their controller's
    choice: where they hold unequal amounts it is an estimate.
    """
    freed = own.leaving()
    if room_for(account, request, 1, freed)[0]:
        return 0
    if not room_for(account, request, 1, own.kept(None)[1])[0]:
        return None
    gone = 0
    for record in own.holding:
        gone += 1
        for dimension, amount in charged([record]).items():
            freed[dimension] = freed.get(dimension, 0) + amount
        if room_for(account, request, 1, freed)[0]:
            break
    return gone
