"""What to do about a card that is not in a queue's quota (Q1): which cards are in it, and which of
them was probably meant.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...accounts.account import AccountReader
from ...close_names import close_names
from ...ledger.ledger_reader import LedgerReader
from ...messages import shortfall_messages
from ...verdict import Shortfall


class OutsideQuota(NamedTuple):
    """Where it is looked up, once it is needed: it costs in proportion to the rows of the quota."""

    ledger: LedgerReader
    account: AccountReader

    def advice(self, shorts: Sequence[Shortfall]) -> str:
        """`shorts`: what falls short. Nobody is advised to use a card that no node has."""
        rows, has = self.account.cards, self.ledger.nodes.has
        offered = [card for card in rows if has(card)]
        others = [card for card in rows if not has(card)]
        return shortfall_messages.advice_not_in_quota(offered, others, meant=self._meant(shorts))

    def _meant(self, shorts: Sequence[Shortfall]) -> str:
        """Which card of the quota was meant. A card that nodes have is no typing error."""
        quota, nodes = self.account.quota, self.ledger.nodes
        written = (short.dimension for short in shorts)
        wrong = next((one for one in written if one not in quota and not nodes.has(one)), "")
        there = [card for card in quota if nodes.has(card)]
        return next(iter(close_names(wrong, there, cards=True)), "")
