"""What a queue has left for a request, in plain numbers (E2, E4)."""

from collections.abc import Callable, Iterable, Sequence

from ..accounts.account import AccountReader
from ..amounts import NO_AMOUNTS, Amounts, Charge, MutableAmounts, add_amounts
from ..ledger.groups.pod_group_state import PodGroupState
from ..pods.pod_request import PodRequest
from ..verdict import Shortfall


class QueueRoom:
    """The room of one queue for pods of one group, or of none. It reads the totals as they are, and
    changes none of them.

    `group`: what is reserved for it is there for its pods. `extra`: what counts as charged in
    addition: what others take that are judged together, or at create pods on their way (E2). It may
    be negative, for what is given back first. Only what is asked for is looked at (E4).
    """

    __slots__ = ("_account", "_covering", "_replaced", "extra", "short")

    def __init__(
        self,
        account: AccountReader,
        group: PodGroupState | None = None,
        extra: Amounts = NO_AMOUNTS,
    ) -> None:
        self._account = account
        self.extra: MutableAmounts = dict(extra)
        self.short: set[str] = set()
        """Cpu or memory of which `take` found too little."""
        replaces = group is not None and group.to_be_replaced
        # Its pods replace what was reserved before they came. Elastic pods, over which that may
        # stand, make no room for a gate (I1).
        self._replaced = dict(group.rest_in(account.name)) if group and replaces else NO_AMOUNTS
        self._covering = None if replaces else group

    def held(self, dimension: str) -> int:
        """What counts as charged."""
        found = self._account.row(dimension).charged + self.extra.get(dimension, 0)
        return found - self._replaced.get(dimension, 0)

    def left(self, dimension: str) -> int:
        """How much is left of what is limited, with what is reserved for the group; below 0 where
        more is charged than is allowed.
        """
        group, limit = self._covering, self._account.limit(dimension) or 0
        own = dict(group.rest_in(self._account.name)).get(dimension, 0) if group is not None else 0
        return limit - self.held(dimension) + own

    def left_of(self, cards: Iterable[str]) -> MutableAmounts:
        """How much is left of each card."""
        return {card: self.left(card) for card in cards}

    def would_be(self, dimension: str, amount: int) -> int:
        """What would be charged with this amount. A request uses up what is reserved for its group,
        and is not added to it (E2).
        """
        covered = 0
        if self._covering is not None:
            asked = amount + self.extra.get(dimension, 0)
            covered = self._covering.covers(self._account.name, dimension, asked)
        return self.held(dimension) + amount - covered

    def choose(
        self,
        request: PodRequest,
        *,
        only: str | None = None,
        is_free: Callable[[str], bool] | None = None,
        lent: int = 0,
    ) -> tuple[Charge, list[Shortfall]]:
        """The first card with room that nodes have free, else the first with room; else what each
        of its cards is short of (E7). `only`: judge this one card. `lent`: cards of it that may be
        used beyond the quota (R6).
        """
        amount, quota = request.amount, self._account.quota
        if not amount:
            return (), []
        cards: Sequence[str] = request.cards if only is None else (only,)
        # The limit is checked also for what a reservation covers: it may have been lowered (Q7).
        able = (c for c in cards if self.would_be(c, amount) <= quota.get(c, 0) + lent)
        chosen = next(able, None)
        if chosen is None:
            return (), [self._short_of(card, amount) for card in cards]
        if is_free is not None and len(cards) > 1 and not is_free(chosen):
            chosen = next(filter(is_free, able), chosen)
        return ((chosen, amount),), []

    def cpu_memory(self, request: PodRequest) -> list[Shortfall]:
        """The shortfalls of cpu and memory."""
        shorts = [self._short_of(dimension, amount) for dimension, amount in self._limited(request)]
        return [short for short in shorts if short.would_be > short.capability]

    def take(self, request: PodRequest, asked: int) -> int:
        """How many of `asked` equal pods have room, each on the first of its cards that is left.
        They count as charged here from now on.
        """
        number = asked
        for dimension, amount in self._limited(request):
            room = max(0, self.left(dimension)) // amount
            if room < number:
                self.short.add(dimension)
                number = room
        if request.amount:
            left, missing = self.left_of(request.cards), number
            for card, room in left.items():
                here = min(missing, max(0, room) // request.amount)
                if here:
                    self.extra[card] = self.extra.get(card, 0) + here * request.amount
                    missing -= here
            number -= missing
        add_amounts(self.extra, ((d, n * number) for d, n in request.cpu_memory))
        return number

    def _limited(self, request: PodRequest) -> Charge:
        """What it asks for of cpu and memory, as far as these are limited."""
        facts = self._account.facts
        limits = facts.limits if facts is not None else NO_AMOUNTS
        return tuple(one for one in request.cpu_memory if one[0] in limits)

    def _short_of(self, dimension: str, amount: int) -> Shortfall:
        limit, leaving = self._account.limit(dimension), self._account.row(dimension).leaving
        return Shortfall(dimension, amount, self.would_be(dimension, amount), limit or 0, leaving)
