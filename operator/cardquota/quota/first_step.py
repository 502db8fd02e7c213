"""What a rolling update needs to begin where the quota is full (E2)."""

from collections.abc import Mapping

from .account import Account
from .on_the_way import NOBODY, OnTheWay
from .own_pods import OwnPods, charged
from .pod_request import PodRequest
from .room import room_for


def must_go_first(
    account: Account, request: PodRequest, own: OwnPods, *, on_the_way: OnTheWay = NOBODY
) -> int | None:
    """How many of a workload's own pods must be gone before one of this request has room.

    None: even without all of them there is none. Which of them go first is their controller's
    choice: where they hold unequal amounts it is an estimate. `on_the_way`: others that count as
    let through.
    """

    def has_room(freed: Mapping[str, int]) -> bool:
        return room_for(account, request, 1, freed, on_the_way=on_the_way)[0] > 0

    freed = own.leaving()
    if has_room(freed):
        return 0
    if not has_room(own.kept(None)[1]):
        return None
    gone = 0
    for record in own.holding:
        gone += 1
        for dimension, amount in charged([record]).items():
            freed[dimension] = freed.get(dimension, 0) + amount
        if has_room(freed):
            break
    return gone
