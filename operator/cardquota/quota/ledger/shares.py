"""What each queue deserves of each card: kept until something that it depends on changes (W1).

Of a card of which all quotas fit the cluster, the quota; nothing is worked out for it. Of an
oversold one there are two amounts: as if everybody asked for its quota, in whole cards, which is
shown; and by what is asked now, not rounded, by which queues are ordered (E6).

Both are weighted max-min fairness: one amount is shared by weight, in rounds, until it is used up.
The rounds have one result, whatever their number: a *level*, at which everybody has its weight
times the level, but at least its guarantee and at most its cap. In each round those who reach their
cap leave, and the level rises; it stops where nothing remains. A guarantee above the level is taken
out first, and the others share what is left. Amounts and weights are integers, and so is all
arithmetic: nothing is rounded but by `whole`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ..accounts.account import AccountReader, QuotaTotals
from ..accounts.queue_facts import LARGEST_WEIGHT
from ..amounts import Amounts, MutableAmounts, add_to
from ..nodes.node_cache import NodeCache
from ..steps import Steps

_SHIFT: Final = 2 * LARGEST_WEIGHT.bit_length()
"""Two quotients by such weights that differ do so by more than 2**-32. Shifted, and cut to an
integer, they are therefore in the same order, and equal only if they were.
"""


class WeightedDemand(NamedTuple):
    """What one of those who share may get. No number is negative."""

    weight: int
    """1 to `LARGEST_WEIGHT`."""
    cap: int
    """The most it gets."""
    guarantee: int = 0
    """The least it gets; no more than the cap counts."""


Quotient = tuple[int, int]
"""An exact amount: numerator and denominator, the latter above zero."""


class ProgressiveFilling:
    """`total`, shared among named demands. Costs O(n log n) to make.

    Guarantees, of what each gets: never above its cap, and never below its guarantee; together
    never above the total, unless the guarantees alone are; nothing is left while anybody is below
    its cap; with equal caps and guarantees a larger weight never gets less. None of it depends on
    the order of the demands.
    """

    __slots__ = ("_all_full", "_demands", "_remaining", "_total", "_weights")

    def __init__(self, total: int, demands: Mapping[str, WeightedDemand]) -> None:
        self._total = total
        self._demands = {
            name: one if one.guarantee <= one.cap else one._replace(guarantee=one.cap)
            for name, one in demands.items()
        }
        weights = 0
        fixed = 0
        points: list[tuple[int, str, bool]] = []
        """Levels at which somebody's amount begins (False) or ends (True) to rise."""
        for name, (weight, cap, guarantee) in self._demands.items():
            fixed += guarantee
            if guarantee < cap:
                points.append(((cap << _SHIFT) // weight, name, True))
                if guarantee:
                    points.append(((guarantee << _SHIFT) // weight, name, False))
                else:
                    weights += weight
        points.sort()
        passed = 0
        for _, name, stops in points:
            weight, cap, guarantee = self._demands[name]
            if (total - fixed) * weight < weights * (cap if stops else guarantee):
                break
            weights += -weight if stops else weight
            fixed += cap if stops else -guarantee
            passed += 1
        self._weights = weights
        """Of those who rise with the level, together."""
        self._remaining = total - fixed
        """What these have, together: the others have their guarantee or their cap."""
        self._all_full = passed == len(points)

    def of(self, name: str) -> Quotient:
        """What this one gets."""
        weight, cap, guarantee = self._demands[name]
        if not self._weights:
            # Nobody rises: all have their cap, or the guarantees alone are above the total.
            return (cap if self._all_full else guarantee), 1
        least, most = guarantee * self._weights, cap * self._weights
        return min(max(weight * self._remaining, least), most), self._weights

    def whole(self) -> dict[str, int]:
        """What each gets in whole numbers: by largest remainder, of equal ones by name."""
        found: dict[str, int] = {}
        remainders: list[tuple[int, str]] = []
        for name in self._demands:
            numerator, denominator = self.of(name)
            found[name], rest = divmod(numerator, denominator)
            if rest:
                remainders.append((-rest, name))
        # The exact amounts that have a remainder make up the total with all others.
        left = self._total - sum(found.values()) if remainders else 0
        for _, name in sorted(remainders)[:left]:
            found[name] += 1
        return found


class Shares:
    """Costs, by card: an event nothing. What is shown, and the order, are worked out once after a
    change that matters to them, some microseconds for each queue that has the card.
    """

    def __init__(
        self,
        accounts: Mapping[str, AccountReader],
        quotas: QuotaTotals,
        nodes: NodeCache,
        mark: Callable[[Iterable[str]], None],
    ) -> None:
        """`mark` is called with queues of which another amount is to be shown."""
        self._accounts = accounts
        self._quotas = quotas
        self._nodes = nodes
        self._mark = mark
        self.owed: MutableAmounts = {}
        """By card what queues are owed by their own words (L1), all together. No zeros."""
        self._shown: dict[str, Amounts] = {}
        """By oversold card: what is shown of each queue."""
        self._outdated: dict[str, bool] = {}
        """Cards of which that is to be worked out again, and whether those who get another amount
        are then to be marked: else all who have the card were marked when it changed.
        """
        self._demands: dict[str, dict[str, WeightedDemand]] = {}
        """By oversold card whose order was asked for: what each queue asked then."""
        self._fillings: dict[str, ProgressiveFilling] = {}
        """By those of them of which nothing has changed since: shared by that."""
        self.asked: dict[str, dict[str, None]] = {}
        """By the cards of `_demands`: the queues whose request, quota or weight may have changed
        since. Who charges a queue for such a card adds it: no call, for there are many such events.
        """

    # --- what changes -------------------------------------------------------------------------

    def total_changed(self, card: str) -> None:
        """The cluster has more or less of a card, or all quotas of it together are others. All who
        have the card were marked, if it is oversold or was.
        """
        self._fillings.pop(card, None)
        if not self.oversold(card):
            # Whoever shows it shows the quota.
            self._shown.pop(card, None)
            self._outdated.pop(card, None)
        else:
            self._outdated[card] = False
        if not self._is_shared(card):
            self._demands.pop(card, None)
            self.asked.pop(card, None)

    def quota_changed(self, queue: str, card: str) -> None:
        """A queue has another quota of a card."""
        self.total_changed(card)
        if card in self.asked:
            self.asked[card][queue] = None

    def reweighted(self, queue: str, card: str) -> None:
        """A queue has another weight, or another guarantee of a card, or is owed another amount."""
        if self.oversold(card):
            self._outdated.setdefault(card, True)
            if card in self.asked:
                self.asked[card][queue] = None

    def owed_changed(self, before: Amounts, after: Amounts) -> None:
        """A queue says of other cards what it is owed (L1)."""
        for sign, amounts in ((-1, before), (1, after)):
            for card, amount in amounts.items():
                add_to(self.owed, card, sign * amount)

    # --- as if everybody asked for its quota ----

    def shown(self, queue: str, card: str) -> int:
        """What a queue deserves, in cards: what it is owed by its own words (L1), else its part."""
        account = self._accounts.get(queue)
        quota = account.quota.get(card, 0) if account is not None else 0
        facts = account.facts if account is not None else None
        owed = facts.owed(card, quota) if facts is not None else None
        if owed is not None:
            return owed
        if not self.oversold(card):
            return quota
        if card in self._outdated or card not in self._shown:
            self._refresh(card)
        return self._shown[card].get(queue, 0)

    def borrowed(self, account: AccountReader, card: str) -> int:
        """What a queue holds of a card beyond what it deserves (L1). Of a card of which the cluster
        has none now, and of which the queue does not say what it is owed, beyond its quota.
        """
        facts = account.facts
        if facts is None:
            return 0
        held = account.row(card).overcharged
        if not held:
            return 0
        none_now = card not in facts.card_deserved and not self._nodes.total(card)
        deserved = account.quota.get(card, 0) if none_now else self.shown(account.name, card)
        return max(0, held - deserved)

    def refresh(self) -> Steps[None]:
        """Work out what is shown of all cards, one in each step. What events change in between is
        taken in. Marks whoever shows another amount now, unless it was marked before. After it,
        `shown` costs next to nothing until an event comes.
        """
        while self._outdated:
            self._refresh(next(iter(self._outdated)))
            yield

    def _refresh(self, card: str) -> None:
        unmarked, before = self._outdated.pop(card, False), self._shown.get(card)
        total, queues = self._nodes.total(card), self._quotas.queues(card)
        demands = ((queue, self._demand(queue, card, by_quota=True)) for queue in queues)
        shared = {queue: one for queue, one in demands if one is not None}
        found = self._shown[card] = ProgressiveFilling(total, shared).whole()
        if unmarked and before is not None:
            self._mark([queue for queue, amount in found.items() if before.get(queue) != amount])

    # --- by what is asked now -----------------------------------------------------------------

    def by_request(self, account: AccountReader, card: str) -> Quotient:
        """What a queue deserves of a card in its quota, exactly. Its quota, or what it is owed by
        its own words (L1), where all quotas fit, or where the cluster has none of the card: what is
        bound then keeps its charge (D8).
        """
        if not self._is_shared(card):
            quota = account.quota[card]
            owed = account.facts.owed(card, quota) if account.facts is not None else None
            return (quota if owed is None else owed), 1
        demands = self._demands.setdefault(card, {})
        changed = self.asked.get(card)
        if changed is None:
            changed = self.asked[card] = dict.fromkeys(self._quotas.queues(card))
        while changed:
            queue, _ = changed.popitem()
            demand = self._demand(queue, card, by_quota=False)
            if demand == demands.get(queue):
                continue
            self._fillings.pop(card, None)
            if demand is None:
                del demands[queue]
            else:
                demands[queue] = demand
        if card not in self._fillings:
            self._fillings[card] = ProgressiveFilling(self._nodes.total(card), demands)
        return self._fillings[card].of(account.name)

    def is_new(self, card: str) -> bool:
        """Whether `by_request` would ask all queues that have the card what they ask for: 6 ms for
        1,000 of them.
        """
        return card not in self._demands and self._is_shared(card)

    # --- both ---------------------------------------------------------------------------------

    def oversold(self, card: str) -> bool:
        """Whether all quotas of a card together exceed the cluster (Q3)."""
        return self._quotas.of(card) > self._nodes.total(card)

    def _is_shared(self, card: str) -> bool:
        return self._quotas.of(card) > self._nodes.total(card) > 0

    def _demand(self, queue: str, card: str, *, by_quota: bool) -> WeightedDemand | None:
        """What a queue may get of a card; None if it has no quota of it."""
        account = self._accounts.get(queue)
        if account is None or account.facts is None or card not in account.quota:
            return None
        quota, facts = account.quota[card], account.facts
        owed = facts.owed(card, quota)
        most = quota if owed is None else owed
        cap = most if by_quota else min(most, account.row(card).requested)
        # What a queue is owed by its own words is set aside before the rounds, and is all it gets.
        guarantee = facts.card_guarantee.get(card, 0) if owed is None else cap
        return WeightedDemand(facts.weight, cap, guarantee)
