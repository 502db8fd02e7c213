"""What a rolling update needs to begin if the quota is full (E2)."""

from bisect import bisect_left

from ..accounts.account_reader import AccountReader
from ..assignment.on_the_way import NOBODY, OnTheWay
from ..pods.indexes.workload_usage import WorkloadUsage
from ..pods.pod_request import PodRequest
from .fit.borrowing import MOST_LENT, lent_now
from .room import room_for


def must_go_first(
    account: AccountReader,
    request: PodRequest,
    own: WorkloadUsage,
    *,
    wanted: int = 0,
    on_the_way: OnTheWay = NOBODY,
) -> int | None:
    """How many of a workload's own pods must be gone before one pod of this request has room.

    None: there is no room even without all of them. Their controller chooses which go first, so it
    is an estimate if they hold unequal amounts. `on_the_way`: other pods that count as let through.
    None has to where the queue lends enough for the first (R6), and so many pods as are `wanted`
    hold no more than there is already.
    """

    def has_room(gone: int) -> bool:
        freed = own.freed_by(gone)
        return room_for(account, request, 1, freed, on_the_way=on_the_way)[0] > 0

    if has_room(0) or _lends_enough(account, request, own, wanted, on_the_way):
        return 0
    if not has_room(own.holding):
        return None
    # Each pod that goes only adds room, so a binary search finds the first number that suffices.
    return 1 + bisect_left(range(1, own.holding), True, key=has_room)


def _lends_enough(
    account: AccountReader,
    request: PodRequest,
    own: WorkloadUsage,
    wanted: int,
    on_the_way: OnTheWay,
) -> bool:
    held = own.freed_by(own.holding)
    return any(
        account.lent(card)
        and lent_now(account, card, on_the_way) >= request.amount
        and 0 < wanted * request.amount <= held.get(card, 0)
        for card in request.cards[:MOST_LENT]
    )
