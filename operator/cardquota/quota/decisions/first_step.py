"""What a rolling update needs to begin if the quota is full (E2)."""

from bisect import bisect_left

from ..accounts.account import AccountReader
from ..amounts import NO_AMOUNTS, Amounts, MutableAmounts, add_amounts
from ..ledger.groups.pod_group_state import PodGroupState
from ..pods.pod_request import PodRequest
from ..pods.workload_usage import WorkloadUsage
from .fit.borrowing import MOST_LENT, lent_now
from .fit.queue_room import QueueRoom


def must_go_first(
    account: AccountReader,
    request: PodRequest,
    own: WorkloadUsage,
    *,
    wanted: int = 0,
    group: PodGroupState | None = None,
    extra: Amounts = NO_AMOUNTS,
) -> int | None:
    """How many of a workload's own pods must be gone before one pod of this request has room.

    None: there is no room even without all of them. Their controller chooses which go first, so it
    XX where the queue lends enough for the first (R6), and so many pods as are `wanted`
    hold no more than there is already.
    """

    def has_room(gone: int) -> bool:
        left: MutableAmounts = dict(extra)
        add_amounts(left, ((d, -amount) for d, amount in own.freed_by(gone).items()))
        return QueueRoom(account, group, left).take(request, 1) > 0

    if has_room(0) or _lends_enough(account, request, own, wanted, extra):
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
    extra: Amounts,
) -> bool:
    held = own.freed_by(own.holding)
    return any(
        account.lent(card)
        and lent_now(account, card, extra) >= request.amount
        and 0 < wanted * request.amount <= held.get(card, 0)
        for card in request.cards[:MOST_LENT]
    )
