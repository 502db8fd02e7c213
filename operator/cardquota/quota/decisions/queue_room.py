"""What a queue has left for a request, the verdict if that is too little, and what nodes have free
(E2, E4, E5, E7).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import NO_AMOUNTS, Amounts, Charge, MutableAmounts, add_amounts, is_card
from ..close_names import close_names
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_messages, shortfall_messages
from ..messages.phrases import Asked
from ..nodes.free_cards import FreeOn
from ..pods.pod_facts import PodFacts
from ..pods.pod_request import PodRequest
from ..selectors.selector import Tolerance
from ..verdict import Outcome, Shortfall, Verdict
from ..vocabulary import CPU, QueueState, Reason

MOST_COMPARED: Final = 20_000
"""Comparisons of a pod's tolerations with the different taints of the nodes with cards: some
milliseconds. Nobody looks at nodes for a pod that takes more."""
_NO_OTHERS: Final[Counter[int]] = Counter()


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
        group, limit = self._covering, self._account.allowed(dimension) or 0
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
        amount, allowed = request.amount, self._account.allowed
        if not amount:
            return (), []
        cards: Sequence[str] = request.cards if only is None else (only,)
        # The limit is checked also for what a reservation covers: it may have been lowered (Q7).
        able = (c for c in cards if self.would_be(c, amount) <= (allowed(c, lent) or 0))
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
        leaving = self._account.row(dimension).leaving
        would_be = self.would_be(dimension, amount)
        return shortfall(self._account, dimension, amount, would_be, leaving)


# --- what does not fit ----------------------------------------------------------------------------


def shortfall(
    account: AccountReader, dimension: str, asked: int, would_be: int, leaving: int = 0
) -> Shortfall:
    """Against what the queue may hold now; against its quota, if the request alone is above that
    (E5).
    """
    allowed, lending = account.allowed(dimension) or 0, account.lent_numbers(dimension)
    found = Shortfall(dimension, asked, would_be, allowed, leaving, lending)
    return found.by_quota if found.never else found


def beside_charged(account: AccountReader, dimension: str, asked: int) -> Shortfall:
    """The numbers of what is asked for, beside what is charged now (section 9)."""
    would_be = account.row(dimension).charged + asked
    return Shortfall(dimension, asked, would_be, account.limit(dimension) or 0)


def over_quota(
    ledger: LedgerReader,
    account: AccountReader,
    shorts: Sequence[Shortfall],
    *,
    never: bool,
    reason: Reason | None = None,
    several: bool = False,
    advice: str = "",
) -> Verdict:
    """The verdict on a request that falls short of these: whether it ever could fit, and why not
    now, in words. `never`: it could not fit whatever is freed (E5).

    `reason`: instead of the one that these say. `several`: it is about several pods with a choice
    of cards, so no single amount is the most that fits. The text is the same if each pod alone
    would fit. `advice`: instead of to wait.
    """
    reason = reason or _reason_of(account, shorts)
    if reason is Reason.CARD_NOT_IN_QUOTA:
        advice = _not_in_quota(ledger, account, shorts)
    elif never:
        hopeless = [] if several else _hopeless(shorts)
        together = shortfall_messages.ADVICE_TOGETHER
        advice = shortfall_messages.advice_never(hopeless) if hopeless else together
    lent = any(short.lacks_lent for short in shorts)
    advice = advice or (shortfall_messages.ADVICE_LENT if lent else shortfall_messages.ADVICE_WAIT)
    text = shortfall_messages.shortfalls(account.name, shorts, advice)
    outcome = Outcome.NEVER if never else Outcome.WAITS
    return Verdict(outcome, account.name, reason, text, tuple(shorts))


def _reason_of(account: AccountReader, shorts: Sequence[Shortfall]) -> Reason:
    """Why a request does not fit: cards come first, then amounts that could never fit."""
    cards = [short.dimension for short in shorts if is_card(short.dimension)]
    if cards:
        outside = all(card not in account.quota for card in cards)
        return Reason.CARD_NOT_IN_QUOTA if outside else Reason.INSUFFICIENT_CARD
    short = next((s for s in shorts if s.never), shorts[0])
    cpu = short.dimension == CPU
    return Reason.INSUFFICIENT_CPU if cpu else Reason.INSUFFICIENT_MEMORY


def _not_in_quota(ledger: LedgerReader, account: AccountReader, shorts: Sequence[Shortfall]) -> str:
    """What to do about cards that are not in the quota (Q1). Nobody is advised to use a card that
    no node has. Costs by the rows of the quota.
    """
    quota, has = account.quota, ledger.nodes.has
    offered = [card for card in account.cards if has(card)]
    others = [card for card in account.cards if not has(card)]
    # A card that nodes have is no typing error.
    written = (short.dimension for short in shorts)
    wrong = next((one for one in written if one not in quota and not has(one)), "")
    meant = next(iter(close_names(wrong, [card for card in quota if has(card)], cards=True)), "")
    return shortfall_messages.advice_not_in_quota(offered, others, meant=meant)


def _hopeless(shorts: Sequence[Shortfall]) -> list[Shortfall]:
    """The amounts that never fit. An alternative that never fits does not count if another may."""
    never = [short for short in shorts if short.never]
    others = [short for short in never if not is_card(short.dimension)]
    waits = any(not s.never for s in shorts if is_card(s.dimension))
    return others if waits and others else never


def shut_to(
    account: AccountReader, namespace: str, asked: Asked, *, of_group: bool = False
) -> Verdict:
    """The refusal of a queue that is not open, or not to this namespace (E5, Q6)."""
    queue = account.name
    if account.facts is not None and account.facts.state is not QueueState.OPEN:
        state = account.facts.state
        text = queue_messages.queue_not_open(queue, state, asked, of_group=of_group)
    else:
        text = queue_messages.namespace_not_admitted(queue, namespace, asked, of_group=of_group)
    return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_OPEN, text)


# --- what nodes have free (E7): serves a choice between cards with quota, and is never a limit ----


def free_for(ledger: LedgerReader, facts: PodFacts) -> Callable[[str], FreeOn] | None:
    """A function that says of a card what the nodes have free that the pod selects and tolerates.
    None: nobody looks at nodes for this pod.

    Costs a step for each node that it selects, if it selects by other labels than those of cards,
    and for each different taint.
    """
    free, tolerance = ledger.nodes.free, Tolerance(facts.tolerations)
    if free.comparisons(tolerance) > MOST_COMPARED:
        return None
    tolerated = free.tolerated(tolerance)
    selected = ledger.nodes.choice(facts.selector) if facts.selector else None

    def free_of(card: str) -> FreeOn:
        if selected is None:
            by_taints = free.by_taints(card)
        else:
            by_taints = free.of_nodes(card, selected.get(card, ()))
        return free.on(card, [by_taints[taints] for taints in by_taints if taints in tolerated])

    return free_of


def has_free(ledger: LedgerReader, facts: PodFacts, amount: int) -> Callable[[str], bool]:
    """A function that says of a card whether a node has it free for one pod."""
    free_of = free_for(ledger, facts)
    return lambda card: free_of is None or free_of(card).most_after(_NO_OTHERS) >= amount
