"""The arithmetic of one request against one queue's totals (E2, E4)."""

from collections.abc import Mapping

from .account import Account
from .group_book import GroupBook
from .pod_request import PodRequest
from .stamp import Charge
from .verdict import Shortfall


class Asking:
    """What of a request is short, and of which card there is enough.

    Only what is asked for counts: of neither cards nor cpu and memory does a zero get here (E4).
    `beside`: what is asked for together with it, by dimension. `at_create`: gated Deny pods count
    as let through. `book`: the pod's group, if it has one.
    """

    __slots__ = ("_account", "_at_create", "_beside", "_book")

    def __init__(
        self,
        account: Account,
        book: GroupBook | None,
        beside: Mapping[str, int],
        *,
        at_create: bool,
    ) -> None:
        self._account = account
        self._book = book
        self._at_create = at_create
        self._beside = beside

    def cards(self, request: PodRequest) -> tuple[Charge, list[Shortfall]]:
        """The first alternative that fits, or what is short of each."""
        amount = request.amount
        if not amount:
            return (), []
        quota, shorts = self._account.quota, []
        for card in request.cards:
            short = self._short_of(card, amount, quota.get(card, 0))
            if short is None:
                return ((card, amount),), []
            shorts.append(short)
        return (), shorts

    def cpu_memory(self, request: PodRequest) -> list[Shortfall]:
        """What is short of cpu and memory."""
        facts = self._account.facts
        if facts is None or not facts.limits:
            return []
        shorts, limits = [], facts.limits
        for dimension, amount in request.cpu_memory:
            limit = limits.get(dimension)
            if limit is not None:
                short = self._short_of(dimension, amount, limit)
                if short is not None:
                    shorts.append(short)
        return shorts

    def _short_of(self, dimension: str, amount: int, limit: int) -> Shortfall | None:
        row, would_be = self._account.rows.get(dimension), amount
        if row is not None:
            would_be += row.expected if self._at_create else row.charged
        if self._beside:
            would_be += self._beside.get(dimension, 0)
        if self._book is not None:
            together = amount + self._beside.get(dimension, 0)
            would_be -= self._book.covers(self._account.name, dimension, together)
        return Shortfall(dimension, amount, would_be, limit) if would_be > limit else None
