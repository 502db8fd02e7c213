"""What follows for pods from an event about something else: which of them are re-read, how many at
once, and what happens when other cards have a quota, or nodes show others.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Final

from ..accounts.account import Account
from ..accounts.queue_facts import QueueFacts
from ..amounts import NO_AMOUNTS, Amounts
from ..limits import KIB
from ..pods.pod_facts import PodFacts
from ..vocabulary import QueueState
from .charges import Charges
from .groups.pod_group_state import PodGroupState
from .ledger_state import LedgerState

_USUAL: Final = KIB
"""Bytes of a selector as pods usually have them; a longer one counts as several pods."""
_FEW: Final = 8
"""Alternatives, and devices, as pods usually have them at most."""


class Reassessment:
    """Re-reads pods after an event about something else: uncharges and charges them again. And
    groups that may wait to be enqueued.

    Guarantees: one event re-reads a bounded number of pods at once. The others are overdue: they
    keep their charge until somebody calls `read_overdue`, as if the event came later for them.
    """

    def __init__(self, state: LedgerState, charges: Charges, at_once: int) -> None:
        """`at_once`: how many pods one event re-reads, a large one counting as several."""
        self._state = state
        self._charges = charges
        charges.reassess = self.reassess
        self.at_once = at_once
        self._overdue: dict[str, bool] = {}
        """Pods to re-read, and whether also if a stamp of ours charges them."""
        self._overdue_groups = set[str]()
        """Keys of groups of which it is to be found out whether they wait to be enqueued."""

    @property
    def overdue(self) -> bool:
        """Whether pods or groups are still to be re-read: see `read_overdue`."""
        return bool(self._overdue or self._overdue_groups)

    @property
    def left(self) -> int:
        """How many pods and groups are overdue."""
        return len(self._overdue) + len(self._overdue_groups)

    def postpone(self, uids: Iterable[str], *, stamped: bool = False) -> None:
        """Leave these pods to `read_overdue`; `stamped`: also where a stamp charges them."""
        new = uids if stamped else set(uids).difference(self._overdue)
        self._overdue.update(dict.fromkeys(new, stamped))

    def read_overdue(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Re-read overdue pods and groups, until none is left or it is `enough`."""
        while self.overdue and not enough():
            if self._overdue_groups:
                self._ask(self._overdue_groups.pop())
                continue
            uid, stamped = self._overdue.popitem()
            self._read_anew(uid, stamped=stamped)

    def read_first(self, uids: Iterable[str]) -> bool:
        """Re-read those of these pods that are overdue, a bounded number of them. Returns whether
        none was overdue.

        To be called before a decision on them: what they were judged by may not hold any more.
        """
        found = [uid for uid in uids if uid in self._overdue] if self._overdue else []
        left = self.at_once
        for uid in found:
            if left <= 0:
                break
            self._overdue.pop(uid, None)
            left -= self._read_anew(uid, stamped=True)
        return not found

    def reassess(
        self, uids: Collection[str], *, stamped: bool = False, at_once: bool = False
    ) -> None:
        """Re-read these pods: those that a stamp charges only with `stamped`; all of them now with
        `at_once`, however many.
        """
        if at_once:
            for uid in sorted(uids):
                self._read_anew(uid, stamped=stamped)
            return
        left = self.at_once
        some = sorted(uids) if len(uids) <= left else list(islice(uids, left))
        if len(some) < len(uids):
            # As a whole: one by one it would take ten times as long.
            self.postpone(uids, stamped=stamped)
        for place, uid in enumerate(some):
            if left <= 0:
                self.postpone(some[place:], stamped=stamped)
                return
            stamped_too = self._overdue.pop(uid, False) or stamped
            left -= self._read_anew(uid, stamped=stamped_too)

    def _read_anew(self, uid: str, *, stamped: bool) -> int:
        """Returns as how many pods of usual length it counts."""
        record = self._state.pods.get(uid)
        if record is None or not (stamped or record.stamp is None):
            return 1
        self._charges.uncharge(record)
        self._charges.charge(record)
        return _weight(record.facts)

    def ask_groups_of_class(self, name: str) -> None:
        """Find another place for the groups that name a priority class and ask for something."""
        groups = self._state.groups.values()
        named = (g for g in groups if g.facts and g.facts.priority_class == name)
        self.ask_again([group.key for group in named if group.request])

    def ask_again(self, keys: Collection[str]) -> None:
        """Find out whether these groups wait to be enqueued, and at which place."""
        if len(keys) > self.at_once:
            self._overdue_groups.update(keys)
            return
        for key in keys:
            self._ask(key)

    def ask_first(self, group: PodGroupState) -> bool:
        """Find out whether this group waits, and where, though it is overdue. Returns whether that
        is as before: to be called before anything is reserved for it.
        """
        before = group.asks
        self._overdue_groups.discard(group.key)
        self._state.ask(group)
        return group.asks == before

    def _ask(self, key: str) -> None:
        group = self._state.groups.get(key)
        if group is not None:
            self._state.ask(group)

    def cards_learned(self) -> None:
        """Cards are known, or counted, in another way. Re-reads the pods that ask for a device, if
        no stamp charges them: any of them may name such a card, or may have meant one (P3, P4).
        Where there are any: some 40 ms for 100,000 pods without a stamp.
        """
        unstamped = self._state.made_pods.unstamped()
        self.reassess({record.facts.uid for record in unstamped if record.facts.devices})


class CardChanges:
    """To be told of each event of a queue or a node, once the state has it."""

    def __init__(self, state: LedgerState, charges: Charges, reassessment: Reassessment) -> None:
        self._state = state
        self._charges = charges
        self._reassessment = reassessment
        self._nodes, self._quotas, self._shares = state.nodes, state.quotas, state.shares
        self._lending = state.lending

    def set_quota(self, account: Account, quota: Amounts) -> None:
        """Put another quota in force.

        Costs in proportion to the rows of both; a card's first row, and its last, also to the
        queues in which somebody waits. The first row for card memory, and the last, also to the
        pods without a stamp that ask for devices (B10).
        """
        changed = {card for card, _ in account.quota.items() ^ quota.items()}
        before = {card: self._quotas.of(card) for card in changed}
        limited_memory = self._quotas.limits_memory
        if named := self._quotas.replace(account.name, account.quota, quota):
            self._learn_anew()
            # A name that pods hold is shown from now on, or no longer (P8).
            self._state.dirty.cards.update(named)
        account.set_quota(quota)
        self.forget(changed)
        for card, quotas in before.items():
            self._shares.quota_changed(account.name, card)
            self._lending.deserved_changed(card)
            self._show_sharers(card, max(quotas, self._quotas.of(card)), self._nodes.total(card))
        if self._quotas.limits_memory != limited_memory:
            self._reassessment.cards_learned()

    def reweigh(self, account: Account, before: QueueFacts | None, facts: QueueFacts) -> None:
        """Costs in proportion to the cards of which the queue now deserves another part (W1)."""
        if before is None:
            return
        changed = before.card_guarantee.items() ^ facts.card_guarantee.items()
        cards = {card for card, _ in changed} & account.quota.keys()
        for card in account.quota if before.weight != facts.weight else cards:
            self._reweighted(account, card)

    def _reweighted(self, account: Account, card: str) -> None:
        self._shares.reweighted(account.name, card)
        self._lending.deserved_changed(card)

    def owe(self, account: Account, before: QueueFacts | None, facts: QueueFacts | None) -> None:
        """A queue says that it is owed, or lends, other amounts (L1, L2); None: there is no queue.
        Costs in proportion to these.
        """
        owed, lends = _owed(before), _lends(before)
        if (owed, lends) == (_owed(facts), _lends(facts)):
            return
        self._shares.owed_changed(owed, _owed(facts))
        self._lending.said_changed(before, facts)
        for card in {
            card for card, _ in owed.items() ^ _owed(facts).items()
        } & account.quota.keys():
            self._reweighted(account, card)
        for card, _ in lends.items() ^ _lends(facts).items():
            self._lending.deserved_changed(card)

    def forget(self, cards: Iterable[str]) -> None:
        """Forget the resource names of cards that no quota and no node has any more."""
        unused = [card for card in cards if not self._state.in_any_quota(card)]
        forgotten = [card for card in unused if self._state.catalog.forget(card)]
        if forgotten:
            self._reassessment.cards_learned()

    def follow_resource_changes(self) -> None:
        """Apply that cards are counted by another resource name (D7), or on other nodes.

        What pods hold by the former name is no card any more, as if the nodes that show it had
        always come second. Costs in proportion to all pods if there are such cards, else nothing.
        """
        cards, nodes = self._nodes.take_resource_changes()
        pods = self._state.pods.values() if cards else ()
        for record in [one for one in pods if any(c in cards for _, c in one.node_cards)]:
            left = tuple(
                (r, c) for r, c in record.node_cards if self._state.catalog.resource(c) == r
            )
            if left != record.node_cards:
                self._charges.uncharge(record)
                record.node_cards, record.compared = left, False
                self._charges.charge(record)
        for node in sorted(nodes):
            self._reassessment.reassess(
                self._nodes.take_unresolved(node), stamped=True, at_once=True
            )
        if nodes:
            self._reassessment.reassess(self._nodes.selection.take_moved())

    def cards_changed(self) -> None:
        """To be called after an event of a node, or of a queue that records cards.

        Most such events bring no news of cards. A new kind of card costs in proportion to the
        queues in which somebody waits; another number of a known card, to nothing more.
        """
        named = self._state.catalog.take_named()
        if named:
            self._learn_anew()
            self._state.dirty.cards.update(named)
        for card, before in self._nodes.take_totals().items():
            self._shares.total_changed(card)
            self._lending.deserved_changed(card)
            self._show_sharers(card, self._quotas.of(card), min(before, self._nodes.total(card)))

    def _show_sharers(self, card: str, most_quotas: int, least_total: int) -> None:
        """Mark the queues with this card as visible, if the quotas together exceed the cluster, or
        did before: that is shown, with both numbers, and so is what each deserves of it.
        """
        if most_quotas > least_total:
            self._state.dirty.cards.update([card])

    def _learn_anew(self) -> None:
        """The set of known cards changed: a card's name may have become valid, or invalid."""
        self._state.epoch += 1
        for account in self._state.waiting.values():
            if account.pending.blocked_on_cards or account.pending.inadmissible.closing:
                self._state.dirty.pending.add(account.name)


def _owed(facts: QueueFacts | None) -> Amounts:
    return facts.card_deserved if facts is not None else NO_AMOUNTS


def _lends(facts: QueueFacts | None) -> Mapping[str, tuple[int, bool]]:
    """With whether something may be kept for the queue: nothing is while it is not open (L2)."""
    if facts is None:
        return {}
    is_open = facts.state is QueueState.OPEN
    return {card: (amount, is_open) for card, amount in facts.lendable.items()}


def _weight(facts: PodFacts) -> int:
    """As how many pods of usual length one counts, by what it costs to read."""
    alternatives = facts.card_text.count("|") if facts.card_text else 0
    return 1 + len(facts.selector) // _USUAL + (alternatives + len(facts.devices)) // _FEW
