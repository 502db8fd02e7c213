"""A workload whose template changes: what its old pods give back, and how many new ones then fit.

An estimate: which of several cards the old pods have is not looked up pod by pod, and others with a
choice of cards are taken to stay where the totals count them.
"""

from collections.abc import Mapping

from .account import Account
from .pod_request import PodRequest
from .room import free_for
from .vocabulary import CPU, MEMORY


def given_back(request: PodRequest, pods: int, account: Account) -> dict[str, int]:
    """What so many pods of this request hold, by dimension.

    Of alternatives, as many as are charged of each in turn.
    """
    amounts = {CPU: pods * request.cpu, MEMORY: pods * request.memory}
    held = {d: min(amount, account.row(d).charged) for d, amount in amounts.items()}
    left = pods * request.amount
    for card in request.cards:
        held[card] = min(left, account.row(card).charged)
        left -= held[card]
    return held


def room_after(
    request: PodRequest, account: Account, freed: Mapping[str, int]
) -> tuple[int, dict[str, int]]:
    """How many more pods of this request fit once `freed` is given back.

    Beside it, what those would add to what is charged now, by dimension. Each pod uses cards of
    one alternative, the first with room.
    """

    def free(dimension: str, amount: int) -> int:
        return free_for(account, dimension, amount, freed.get(dimension, 0))

    rooms = [free(CPU, request.cpu), free(MEMORY, request.memory)]
    by_card = {card: free(card, request.amount) for card in request.cards}
    if request.amount:
        rooms.append(sum(by_card.values()))
    fits = min(rooms)
    charged = {CPU: fits * request.cpu, MEMORY: fits * request.memory}
    left = fits
    for card, room in by_card.items():
        taken = min(left, room)
        charged[card] = taken * request.amount
        left -= taken
    return fits, {d: charged.get(d, 0) - freed.get(d, 0) for d in charged.keys() | freed.keys()}
