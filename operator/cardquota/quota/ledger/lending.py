"""What a queue may hold of a card beyond what it deserves: what is there, but for what is kept for
others (L2).

Of most cards nothing is kept, and nothing here is worked out. Of a *lent* card the sum over all
queues of what each holds, or what is kept for it if that is more, is kept up to date: by each
charge, and anew after a change of what queues deserve.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..accounts.account import AccountReader
from ..accounts.queue_facts import QueueFacts
from ..amounts import MutableAmounts, add_to
from ..nodes.node_cache import NodeCache
from ..verdict import LentNumbers
from ..vocabulary import QueueState
from .shares import Shares


@dataclass(slots=True)
class _LentCard:
    """One card that is, or may be, lent."""

    name: str
    outdated: bool = True
    """Whether the rest is to be worked out anew."""
    limits: bool = False
    """Whether it is lent: something of it is kept, or all oversold cards are limited so."""
    total: int = 0
    """Of the cluster, cards."""
    kept: dict[str, int] = field(default_factory=dict)
    """By queue what is kept for it. No zeros."""
    held: dict[str, int] = field(default_factory=dict)
    """By queue, or name that pods are charged to, what it holds. No zeros."""
    held_together: int = 0
    taken: int = 0
    """Of each what it holds, or what is kept for it if that is more, together."""
    changed: dict[str, None] = field(default_factory=dict)
    """Those whose charges may have changed since."""
    waiting: dict[str, None] = field(default_factory=dict)
    """Queues that were told that they may hold less than their quota. They are marked when it may
    have become more."""

    def own(self, queue: str) -> int:
        """The part of `taken` that is a queue's."""
        return max(self.held.get(queue, 0), self.kept.get(queue, 0))

    def comes_from(self, queue: str, amount: int) -> int:
        """By how much `taken` falls if a queue holds so much less."""
        after = max(self.held.get(queue, 0) - amount, self.kept.get(queue, 0))
        return max(0, self.own(queue) - after)


class Lending:
    """Costs: for cards that are not lent nothing. Else a charge costs a step, and a change of what
    is deserved some microseconds for each queue that has the card, once, when somebody asks.
    """

    def __init__(
        self,
        accounts: Mapping[str, AccountReader],
        shares: Shares,
        nodes: NodeCache,
        mark: Callable[[Iterable[str]], None],
        *,
        everywhere: bool,
    ) -> None:
        """`mark` is called with queues that may hold more now than they were told. `everywhere`:
        all oversold cards are lent of which the cluster has any, whatever is kept.
        """
        self._accounts = accounts
        self._shares = shares
        self._nodes = nodes
        self._mark = mark
        self._everywhere = everywhere
        self._named: MutableAmounts = {}
        """By card how many queues say what they lend of it. No zeros."""
        self._said: MutableAmounts = {}
        """By card how many queues say what they are owed of it, or lend. No zeros."""
        self.cards = self._cards = dict[str, _LentCard]()
        """Those that are, or may be, lent. Who charges a queue for one of them says so: no call for
        all others, for there are many such events."""
        self._news: dict[str, None] = {}
        """Those of them with queues in `changed`."""

    # --- what changes -------------------------------------------------------------------------

    def said_changed(self, before: QueueFacts | None, after: QueueFacts | None) -> None:
        """A queue says otherwise what it is owed, or lends; None: there is none. `deserved_changed`
        is to be called for these cards, too.
        """
        for sign, facts in ((-1, before), (1, after)):
            if facts is not None:
                for card in facts.lendable:
                    add_to(self._named, card, sign)
                for card in facts.lendable.keys() | facts.card_deserved.keys():
                    add_to(self._said, card, sign)

    def deserved_changed(self, card: str) -> None:
        """Queues may deserve, or lend, other amounts of a card, or the cluster has another number
        of it.
        """
        lent = self._cards.get(card)
        if lent is not None:
            lent.outdated = True
            self._wake(lent)
        if not self._may_be_lent(card):
            self._cards.pop(card, None)
            self._news.pop(card, None)
        elif lent is None:
            self._cards[card] = _LentCard(card)

    def charged(self, card: str, queue: str) -> None:
        """What a queue holds of a card may have changed. Nothing is worked out."""
        lent = self._cards.get(card)
        if lent is not None and not lent.outdated:
            lent.changed[queue] = None
            self._news[card] = None

    def settle(self) -> None:
        """Mark the queues that may hold more by what was charged since. To be called before marks
        are taken. Costs a step for each queue that was charged.
        """
        while self._news:
            card, _ = self._news.popitem()
            if card in self._cards:
                self._take_in(self._cards[card])

    # --- what a queue may hold ----------------------------------------------------------------

    def allowed(self, account: AccountReader, card: str, most: int) -> int:
        """What a queue may hold of a card now, at most `most`, its quota or what it may borrow
        beyond that. If it is less, the queue is marked when it may have become more.
        """
        lent = self._current(card)
        if lent is None:
            return most
        name = account.name
        there = lent.own(name) + max(0, lent.total - lent.taken)
        found = max(there, self._shares.shown(name, card))
        if found >= most:
            return most
        lent.waiting[name] = None
        return found

    def given_to_others(
        self, account: AccountReader, card: str, most: int, leaving: Mapping[str, int]
    ) -> int:
        """Of what a queue gives back of a card, how much is not for itself: more is lent than there
        is. Below zero: so much more it may hold once others are gone. `most`: what it may hold in
        any case. `leaving`: by queue, what pods hold that are being deleted.
        """
        lent = self._current(card)
        if lent is None:
            return 0
        name = account.name
        others = (lent.comes_from(queue, n) for queue, n in leaving.items() if queue != name)
        own, deserved = lent.own(name), self._shares.shown(name, card)
        there = lent.total - lent.taken
        allowed = min(most, max(own + max(0, there), deserved))
        return allowed - min(most, max(own + there + sum(others), deserved))

    def numbers(self, account: AccountReader, card: str) -> LentNumbers | None:
        """Why a queue may hold no more of a card. None: it is not lent, and nobody says what he is
        owed of it.
        """
        lent = self._current(card)
        if lent is None and card not in self._said:
            return None
        name = account.name
        found = LentNumbers(
            quota=account.quota.get(card, 0),
            deserved=self._shares.shown(name, card),
            held=account.row(card).overcharged,
            borrowed=self._shares.borrowed(account, card),
        )
        if lent is None:
            return found
        others = lent.held_together - lent.held.get(name, 0)
        kept = lent.taken - lent.own(name) - others
        return found._replace(total=lent.total, held_by_others=others, kept_for_others=kept)

    # --- one card -----------------------------------------------------------------------------

    def _may_be_lent(self, card: str) -> bool:
        if card in self._named:
            return True
        return self._everywhere and self._shares.oversold(card) and self._nodes.total(card) > 0

    def _current(self, card: str) -> _LentCard | None:
        """A lent card, up to date; None: it is not lent."""
        lent = self._cards.get(card)
        if lent is None:
            return None
        if lent.outdated:
            self._work_out(lent)
        elif lent.changed:
            self._news.pop(card, None)
            self._take_in(lent)
        return lent if lent.limits else None

    def _work_out(self, lent: _LentCard) -> None:
        card = lent.name
        lent.outdated, lent.changed = False, {}
        lent.total, lent.kept, lent.held = self._nodes.total(card), {}, {}
        for name, account in self._accounts.items():
            if held := account.row(card).overcharged:
                lent.held[name] = held
            facts = account.facts
            if facts and facts.state is QueueState.OPEN and card in facts.lendable:
                kept = self._shares.shown(name, card) - facts.lendable[card]
                if kept > 0:
                    lent.kept[name] = kept
        lent.held_together = sum(lent.held.values())
        lent.taken = sum(map(lent.own, lent.held.keys() | lent.kept.keys()))
        everywhere = self._everywhere and self._shares.oversold(card) and lent.total > 0
        lent.limits = everywhere or bool(lent.kept)

    def _take_in(self, lent: _LentCard) -> None:
        """The charges of some queues."""
        before, changed, lent.changed = lent.taken, lent.changed, {}
        for name in changed:
            account = self._accounts.get(name)
            held = account.row(lent.name).overcharged if account is not None else 0
            lent.taken -= lent.own(name)
            lent.held_together += held - lent.held.pop(name, 0)
            if held:
                lent.held[name] = held
            lent.taken += lent.own(name)
        if lent.taken < min(before, lent.total):
            self._wake(lent)  # else nobody may hold more

    def _wake(self, lent: _LentCard) -> None:
        if lent.waiting:
            waiting, lent.waiting = lent.waiting, {}
            self._mark(waiting)
