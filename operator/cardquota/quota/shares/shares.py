"""What each queue deserves of each card: kept until something that it depends on changes (W1).

Of a card of which all quotas fit the cluster, the quota; nothing is worked out for it. Of an
oversold one there are two amounts: as if everybody asked for its quota, in whole cards, which is
shown; and by what is asked now, not rounded, by which queues are ordered (E6).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ..accounts.account import AccountReader
from ..accounts.quota_totals import QuotaTotals
from ..amounts import Amounts
from ..nodes.node_cache import NodeCache
from ..steps import Steps
from .deserved_by_weight import deserved_by_weight
from .progressive_filling import ProgressiveFilling, Quotient, WeightedDemand

AT_A_TIME: Final = 200
"""Queues whose new request, or quota, one step takes in."""
FEW: Final = 1_000
"""Queues with one card that are all looked at in one step. Where there are more, what is shown is
kept from change to change."""


class Shares:
    """Costs, by card: an event nothing; what is shown, once after a change, in proportion to the
    queues that have the card; the order, once for each queue whose request has changed.

    Not guaranteed: that one step over a card that ten thousand queues share takes less than some
    ten milliseconds.
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
        self._shown: dict[str, Amounts] = {}
        """By oversold card: what is shown of each queue."""
        self._outdated: dict[str, bool] = {}
        """Cards of which that is to be worked out again, and whether those who get another amount
        are then to be marked: else all who have the card were marked when it changed.
        """
        self._by_quota: dict[str, ProgressiveFilling] = {}
        """By oversold card that more than a few queues have: shared as if everybody asked for its
        quota.
        """
        self._unset: dict[str, dict[str, None]] = {}
        """By those cards: the queues whose quota or weight may have changed since."""
        self._fillings: dict[str, ProgressiveFilling] = {}
        """By oversold card of which there is any: shared by what is asked."""
        self._unfilled: set[str] = set()
        """Those of them for which it is made when it is first asked for."""
        self.asked: dict[str, dict[str, None]] = {}
        """By the cards for which it is made: the queues whose request, quota or weight may have
        changed since. Who charges a queue for such a card adds it: no call, for there are many such
        events.
        """

    # --- what changes -------------------------------------------------------------------------

    def total_changed(self, card: str) -> None:
        """The cluster has more or less of a card, or all quotas of it together are others. All who
        have the card were marked, if it is oversold or was.
        """
        total = self._nodes.total(card)
        if self._quotas.of(card) <= total:
            # Whoever shows it shows the quota.
            self._shown.pop(card, None)
            self._outdated.pop(card, None)
            self._keep_no_more(card)
            self._share_no_more(card)
            return
        self._outdated[card] = False
        if card in self._by_quota:
            self._by_quota[card].set_total(total)
        if not total:
            self._share_no_more(card)
        elif card in self._fillings:
            self._fillings[card].set_total(total)
        else:
            self._unfilled.add(card)

    def _keep_no_more(self, card: str) -> None:
        self._by_quota.pop(card, None)
        self._unset.pop(card, None)

    def _share_no_more(self, card: str) -> None:
        self._unfilled.discard(card)
        self._fillings.pop(card, None)
        self.asked.pop(card, None)

    def quota_changed(self, queue: str, card: str) -> None:
        """A queue has another quota of a card."""
        self.total_changed(card)
        self._changed(queue, card)

    def reweighted(self, queue: str, card: str) -> None:
        """A queue has another weight, or another guarantee of a card."""
        if not self.oversold(card):
            return
        self._outdated.setdefault(card, True)
        self._changed(queue, card)

    def _changed(self, queue: str, card: str) -> None:
        for changed in self.asked, self._unset:
            if card in changed:
                changed[card][queue] = None

    # --- as if everybody asked for its quota ----

    def shown(self, queue: str, card: str) -> int:
        """What a queue deserves, in cards. May cost in proportion to the queues that have the card:
        see `refresh`.
        """
        if not self.oversold(card):
            account = self._accounts.get(queue)
            return account.quota.get(card, 0) if account is not None else 0
        if card in self._outdated or card not in self._shown:
            while self._prepare(card):
                pass
            self._refresh(card)
        return self._shown[card].get(queue, 0)

    def refresh(self) -> Steps[None]:
        """Work out what is shown of all cards, one in each step, or in several where very many
        queues have it. What events change in between is taken in, and nothing begins anew. Marks
        whoever shows another amount now, unless it was marked before. After it, `shown` costs next
        to nothing until an event comes.
        """
        while self._outdated:
            card = next(iter(self._outdated))
            if not self._prepare(card):
                self._refresh(card)
            yield

    def _prepare(self, card: str) -> bool:
        """One step of what `_refresh` needs. Returns whether there was any to do."""
        queues = self._quotas.queues(card)
        if len(queues) <= FEW:
            self._keep_no_more(card)
            return False
        if card not in self._by_quota:
            self._by_quota[card] = ProgressiveFilling(self._nodes.total(card))
            self._unset[card] = dict.fromkeys(queues)
        filling, unset = self._by_quota[card], self._unset[card]
        if not unset:
            return filling.settle()
        self._take_in(card, filling, unset, by_quota=True)
        return True

    def _refresh(self, card: str) -> None:
        unmarked, before = self._outdated.pop(card, False), self._shown.get(card)
        filling = self._by_quota.get(card)
        found = self._shown[card] = (
            deserved_by_weight(self._nodes.total(card), self._demands(card, by_quota=True))
            if filling is None
            else filling.whole()
        )
        if unmarked and before is not None:
            self._mark([queue for queue, amount in found.items() if before.get(queue) != amount])

    # --- by what is asked now -----------------------------------------------------------------

    def settle(self, cards: Iterable[str]) -> bool:
        """Take in some of what changed of these cards: one step. Returns whether there was any.

        `by_request` needs that there is none, for the same cards.
        """
        for card in cards:
            if card in self.asked:
                if self.asked[card]:
                    self._take_in(card, self._fillings[card], self.asked[card], by_quota=False)
                    return True
            elif card in self._unfilled:
                self._unfilled.discard(card)
                queues = self._quotas.queues(card)
                many = len(queues) > FEW
                self._fillings[card] = ProgressiveFilling(
                    self._nodes.total(card), {} if many else self._demands(card, by_quota=False)
                )
                self.asked[card] = dict.fromkeys(queues) if many else {}
                return True
        return False

    def by_request(self, account: AccountReader, card: str) -> Quotient:
        """What a queue deserves of a card in its quota, exactly. Its quota where all quotas fit, or
        where the cluster has none of the card: what is bound then keeps its charge (D8).
        """
        if card in self._fillings:
            return self._fillings[card].of(account.name)
        return account.quota[card], 1

    # --- both ---------------------------------------------------------------------------------

    def _take_in(
        self, card: str, filling: ProgressiveFilling, changed: dict[str, None], *, by_quota: bool
    ) -> None:
        for _ in range(min(AT_A_TIME, len(changed))):
            queue, _ = changed.popitem()
            filling.set(queue, self._demand(queue, card, by_quota=by_quota))

    def oversold(self, card: str) -> bool:
        """Whether all quotas of a card together exceed the cluster (Q3)."""
        return self._quotas.of(card) > self._nodes.total(card)

    def _demands(self, card: str, *, by_quota: bool) -> dict[str, WeightedDemand]:
        found = (
            (queue, self._demand(queue, card, by_quota=by_quota))
            for queue in self._quotas.queues(card)
        )
        return {queue: demand for queue, demand in found if demand is not None}

    def _demand(self, queue: str, card: str, *, by_quota: bool) -> WeightedDemand | None:
        """What a queue may get of a card; None if it has no quota of it."""
        account = self._accounts.get(queue)
        if account is None or account.facts is None or card not in account.quota:
            return None
        quota, facts = account.quota[card], account.facts
        cap = quota if by_quota else min(quota, account.row(card).requested)
        return WeightedDemand(facts.weight, cap, facts.card_guarantee.get(card, 0))
