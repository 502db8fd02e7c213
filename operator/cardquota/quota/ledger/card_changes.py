"""What follows when other cards have a quota, or nodes show others."""

from collections.abc import Iterable

from ..accounts.account import Account
from ..accounts.queue_facts import QueueFacts
from ..amounts import Amounts
from ..vocabulary import GPU_MEMORY
from .charges import Charges
from .ledger_state import LedgerState
from .reassessment import Reassessment


class CardChanges:
    """To be told of each event of a queue or a node, once the state has it."""

    def __init__(self, state: LedgerState, charges: Charges, reassessment: Reassessment) -> None:
        self._state = state
        self._charges = charges
        self._reassessment = reassessment
        self._nodes, self._quotas, self._shares = state.nodes, state.quotas, state.shares

    def set_quota(self, account: Account, quota: Amounts) -> None:
        """Put another quota in force.

        Costs in proportion to the rows of both; a card's first row, and its last, also to the
        queues in which somebody waits. The first row for card memory, and the last, also to the
        pods that ask for some (B10).
        """
        changed = {card for card, _ in account.quota.items() ^ quota.items()}
        before = {card: self._quotas.of(card) for card in changed}
        limited_memory = self._quotas.limits_memory
        if named := self._quotas.replace(account.name, account.quota, quota):
            self._learn_anew()
            # A name that pods hold is shown from now on, or no longer (P8).
            self._state.dirty.mark_showing(named)
        account.set_quota(quota)
        self.forget(changed)
        for card, quotas in before.items():
            self._shares.quota_changed(account.name, card)
            self._show_sharers(card, max(quotas, self._quotas.of(card)), self._nodes.total(card))
        if self._quotas.limits_memory != limited_memory:
            self._reassessment.cards_learned([GPU_MEMORY])

    def reweigh(self, account: Account, before: QueueFacts | None, facts: QueueFacts) -> None:
        """Costs in proportion to the cards of which the queue now deserves another part (W1)."""
        if before is None:
            return
        changed = before.card_guarantee.items() ^ facts.card_guarantee.items()
        cards = {card for card, _ in changed} & account.quota.keys()
        for card in account.quota if before.weight != facts.weight else cards:
            self._shares.reweighted(account.name, card)

    def forget(self, cards: Iterable[str]) -> None:
        """Forget the resource names of cards that no quota and no node has any more."""
        gone = (
            self._state.catalog.forget(card) for card in cards if not self._state.in_any_quota(card)
        )
        self._reassessment.cards_learned([resource for resource in gone if resource])

    def follow_resource_changes(self) -> None:
        """Apply that cards are counted by another resource name (D7), or on other nodes.

        What pods hold by the former name is no card any more, as if the nodes that show it had
        always come second. Costs in proportion to all pods if there are such cards, else nothing.
        """
        cards, nodes = self._nodes.take_resource_changes()
        pods = self._state.pods.values() if cards else ()
        for record in [one for one in pods if one.node_cards and one.runs_on(cards)]:
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
            self._state.dirty.mark_showing(named)
        for card, before in self._nodes.take_totals().items():
            self._shares.total_changed(card)
            self._show_sharers(card, self._quotas.of(card), min(before, self._nodes.total(card)))

    def _show_sharers(self, card: str, most_quotas: int, least_total: int) -> None:
        """Mark the queues with this card as visible, if the quotas together exceed the cluster, or
        did before: that is shown, with both numbers, and so is what each deserves of it.
        """
        if most_quotas > least_total:
            self._state.dirty.mark_sharers(card)

    def _learn_anew(self) -> None:
        """The set of known cards changed: a card's name may have become valid, or invalid."""
        self._state.epoch += 1
        for account in self._state.waiting.values():
            if account.pending.blocked_on_cards or account.pending.inadmissible.closing:
                self._state.dirty.mark_pending(account.name)
