"""The verdict on what does not fit: whether it ever could, and why not now, in words."""

from collections.abc import Sequence
from typing import NamedTuple

from ..accounts.account import AccountReader
from ..amounts import is_card
from ..close_names import close_names
from ..ledger.ledger_reader import LedgerReader
from ..messages import shortfall_messages
from ..verdict import Outcome, Shortfall, Verdict
from ..vocabulary import CPU, Reason


class OutsideQuota(NamedTuple):
    """What to do about a card that is not in a queue's quota (Q1). Looked up once it is needed: it
    costs in proportion to the rows of the quota.
    """

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


def reason_of(account: AccountReader, cards: list[Shortfall], others: list[Shortfall]) -> Reason:
    """Why a request does not fit: cards come first, then amounts that could never fit."""
    if cards:
        outside = all(short.dimension not in account.quota for short in cards)
        return Reason.CARD_NOT_IN_QUOTA if outside else Reason.INSUFFICIENT_CARD
    short = next((s for s in others if s.never), others[0])
    cpu = short.dimension == CPU
    return Reason.INSUFFICIENT_CPU if cpu else Reason.INSUFFICIENT_MEMORY


def beside_charged(account: AccountReader, dimension: str, asked: int) -> Shortfall:
    """The numbers of what is asked for, beside what is charged now (section 9)."""
    would_be = account.row(dimension).charged + asked
    return Shortfall(dimension, asked, would_be, account.limit(dimension) or 0)


def over_quota(
    queue: str,
    reason: Reason | None,
    shorts: Sequence[Shortfall],
    *,
    never: bool,
    outside: OutsideQuota | None = None,
    several: bool = False,
    advice: str = "",
) -> Verdict:
    """`never`: whether it could not fit whatever is freed (E5). `outside`: what is said of a card
    that is not in the quota.

    `several`: the verdict is on several pods with a choice of cards, so no single amount is the
    most that fits. The text is the same if each pod alone would fit.
    `advice`: instead of what else would be said.
    """
    if reason is Reason.CARD_NOT_IN_QUOTA and outside is not None:
        advice = outside.advice(shorts)
    elif never and (several or not _hopeless(shorts)):
        advice = shortfall_messages.ADVICE_TOGETHER
    elif never:
        advice = shortfall_messages.advice_never(_hopeless(shorts))
    else:
        advice = advice or shortfall_messages.ADVICE_WAIT
    return Verdict(
        Outcome.NEVER if never else Outcome.WAITS,
        queue,
        reason,
        shortfall_messages.shortfalls(queue, shorts, advice),
        tuple(shorts),
    )


def _hopeless(shorts: Sequence[Shortfall]) -> list[Shortfall]:
    """The amounts that never fit. An alternative that never fits does not count if another may."""
    never = [short for short in shorts if short.never]
    others = [short for short in never if not is_card(short.dimension)]
    waits = any(not s.never for s in shorts if is_card(s.dimension))
    return others if waits and others else never
