"""May this pod, or this gang, be let through? (E2, E4, E5, E9, and the checks before them)

Pure questions to the ledger: nothing is charged here.
"""

from collections.abc import Mapping, Sequence

from . import messages
from .account import OUTSIDE, Account
from .bucket import Bucket
from .ledger import Ledger
from .pod_facts import PodFacts, State
from .pod_record import PodRecord
from .pod_request import PodRequest, card_devices, lacks_node, objection
from .stamp import Charge
from .verdict import Outcome, Shortfall, Verdict
from .vocabulary import CPU, MEMORY, NAMESPACE_ENFORCED, QueueState, Reason

_NOTHING: Mapping[str, int] = {}


def judge_create(
    ledger: Ledger,
    facts: PodFacts,
    *,
    require_queue: bool = False,
    beside: Mapping[str, int] = _NOTHING,
) -> Verdict:
    """The verdict on a pod that is being created.

    Gated Deny pods that have been seen count as let through: they are on their way (E2). `beside`
    is what else the caller wants counted, by dimension.
    """
    queue = ledger.queue_of(facts)
    unseen = _waits_for_group(ledger, facts)
    if queue == OUTSIDE and not unseen:
        return _without_queue(ledger, facts, require_queue=require_queue)
    # A group that has not been seen may have another queue than the pod's namespace.
    certain = OUTSIDE if unseen and not facts.own_queue else queue
    if facts.claims_devices and _enforced(ledger, facts.namespace):
        return _objected(ledger, facts, certain, Reason.DEVICE_CLAIMED, messages.device_claimed())
    if facts.node and facts.state is State.BOUND:
        text = messages.node_named(facts.node)
        return _objected(ledger, facts, certain, Reason.NODE_NAMED, text)
    if unseen and not facts.own_queue:
        return _queue_unknown(ledger, facts)
    verdict = _judge(ledger, facts, queue, at_create=True, extra=beside)
    if verdict.outcome is not Outcome.NEVER and unseen:
        return _group_not_seen(facts, queue)
    return verdict


def _queue_unknown(ledger: Ledger, facts: PodFacts) -> Verdict:
    """A pod whose queue only its group can tell: refused for what is wrong in any queue."""
    wrong = objection(facts, ledger.request_of(facts, OUTSIDE), _NOTHING, ledger)
    if wrong is not None and wrong.reason is Reason.INVALID_CARD:
        return _objected(ledger, facts, OUTSIDE, wrong.reason, wrong.text)
    return _group_not_seen(facts, OUTSIDE)


def _objected(ledger: Ledger, facts: PodFacts, queue: str, reason: Reason, text: str) -> Verdict:
    """A refusal for what is wrong with the asking itself, naming what is known of it (I4)."""
    devices = card_devices(facts, ledger)
    if len(devices) == 1 and facts.card_text is not None:
        devices = [(facts.card_text, devices[0][1])]
    return Verdict(Outcome.NEVER, queue, reason, messages.objected(queue, devices, text))


def judge_release(ledger: Ledger, record: PodRecord) -> Verdict:
    """The verdict on opening one pod's gate."""
    missing = judge_presence(ledger, record)
    if missing is not None:
        return missing
    if record.queue == OUTSIDE:
        text = messages.gated_without_queue()
        return Verdict(Outcome.NEVER, OUTSIDE, Reason.QUEUE_NOT_FOUND, text)
    return _judge(ledger, record.facts, record.queue, request=record.request)


def judge_presence(ledger: Ledger, record: PodRecord) -> Verdict | None:
    """What a gated pod waits for before its request can be judged: its group, or its gang."""
    facts = record.facts
    if not facts.group:
        return None
    book = ledger.groups[facts.group]
    if book.facts is None:
        return _group_not_seen(facts, record.queue)
    if not book.gang or book.started or book.there >= book.minimum:
        return None
    text = messages.gang_incomplete(book.key, book.there, book.minimum)
    return Verdict(Outcome.UNSEEN, record.queue, Reason.GANG_INCOMPLETE, text)


def judge_gang(ledger: Ledger, members: Sequence[PodRecord]) -> tuple[Verdict, list[Charge]]:
    """The verdict on starting a gang: these members together, or none (E2).

    Beside it what each member would be charged in cards, in the same order; empty if they do not
    all fit.
    """
    extra: dict[str, int] = {}
    chosen: list[Charge] = []
    for record in members:
        verdict = judge_member(ledger, record, extra)
        if not verdict.fits:
            return _of_gang(ledger, verdict, members), []
        chosen.append(verdict.cards)
    return Verdict(Outcome.FITS, members[0].queue), chosen


def judge_member(ledger: Ledger, record: PodRecord, beside: dict[str, int]) -> Verdict:
    """The verdict on one member of a gang beside those that start with it.

    `beside` is what they ask for together; if this one fits, its request is added there.
    """
    verdict = _judge(ledger, record.facts, record.queue, request=record.request, extra=beside)
    if verdict.fits:
        for dimension, amount in (*verdict.cards, *_cpu_memory(record.request)):
            beside[dimension] = beside.get(dimension, 0) + amount
    return verdict


def _of_gang(ledger: Ledger, verdict: Verdict, members: Sequence[PodRecord]) -> Verdict:
    """The failing member's verdict with the amounts of the whole gang."""
    if not verdict.shortfalls:
        return verdict
    account = ledger.account(verdict.queue)
    shorts = []
    for short in verdict.shortfalls:
        asked = sum(_asks(record.request, short.dimension) for record in members)
        charged = account.row(short.dimension).charged if account else 0
        shorts.append(Shortfall(short.dimension, asked, charged + asked, short.capability))
    never = any(short.never for short in shorts if short.dimension in (CPU, MEMORY))
    never = never or _too_many(members, [s for s in shorts if s.dimension not in (CPU, MEMORY)])
    rows = sorted(account.quota) if account else ()
    return _short(verdict.queue, verdict.reason, shorts, never=never, rows=rows)


def _too_many(members: Sequence[PodRecord], shorts: Sequence[Shortfall]) -> bool:
    """Whether the members that can use no other cards ask for more than all of these allow."""
    cards = {short.dimension for short in shorts}
    requests = [record.request for record in members if record.request and record.request.cards]
    asked = sum(request.amount for request in requests if cards.issuperset(request.cards))
    return asked > sum(short.capability for short in shorts)


def _asks(request: PodRequest | None, dimension: str) -> int:
    if request is None:
        return 0
    amounts = dict(_cpu_memory(request))
    return request.amount if dimension in request.cards else amounts.get(dimension, 0)


def _cpu_memory(request: PodRequest | None) -> Charge:
    return ((CPU, request.cpu), (MEMORY, request.memory)) if request else ()


def _waits_for_group(ledger: Ledger, facts: PodFacts) -> bool:
    """Whether the pod names a group that has not been seen: a stale view never refuses."""
    if not facts.group:
        return False
    book = ledger.groups.get(facts.group)
    return book is None or book.facts is None


def _group_not_seen(facts: PodFacts, queue: str) -> Verdict:
    text = messages.group_not_seen(facts.group)
    return Verdict(Outcome.UNSEEN, queue, Reason.GROUP_NOT_FOUND, text, warnings=(text,))


def _enforced(ledger: Ledger, namespace: str) -> bool:
    found = ledger.namespaces.get(namespace)
    return found is not None and found.mode == NAMESPACE_ENFORCED


def _without_queue(ledger: Ledger, facts: PodFacts, *, require_queue: bool) -> Verdict:
    """A pod without a queue: refused where one is demanded, else let by (section 2)."""
    demanded = require_queue or _enforced(ledger, facts.namespace)
    if facts.claims_devices and _enforced(ledger, facts.namespace):
        return _objected(ledger, facts, OUTSIDE, Reason.DEVICE_CLAIMED, messages.device_claimed())
    if not ledger.uses_cards(facts):
        return Verdict(Outcome.UNMANAGED)
    if demanded:
        return Verdict(
            Outcome.NEVER, "", Reason.QUEUE_NOT_FOUND, messages.no_queue(facts.namespace)
        )
    named = facts.card_text
    warnings = (messages.card_without_queue(named),) if named is not None else ()
    return Verdict(Outcome.UNMANAGED, warnings=warnings)


def _judge(
    ledger: Ledger,
    facts: PodFacts,
    queue: str,
    *,
    request: PodRequest | None = None,
    at_create: bool = False,
    extra: Mapping[str, int] = _NOTHING,
) -> Verdict:
    account = ledger.account(queue)
    barred = _barred(ledger, account, queue, facts)
    if barred is not None or account is None:
        return barred or Verdict(Outcome.NEVER, queue)
    request = request or ledger.request_of(facts, queue)
    if lacks_node(facts, request, ledger) and not facts.problem:
        text = messages.node_without_card(queue, request.resource, request.amount)
        return Verdict(Outcome.UNSEEN, queue, Reason.NODE_WITHOUT_CARD, text, warnings=(text,))
    wrong = objection(facts, request, account.quota, ledger)
    if wrong is not None:
        return _objected(ledger, facts, queue, wrong.reason, wrong.text)
    asking = _Asking(ledger, account, facts, at_create=at_create, extra=extra)
    cards, card_shorts = asking.cards(request)
    other_shorts = asking.cpu_memory(request)
    warnings = _warnings(ledger, request)
    if not card_shorts and not other_shorts:
        return Verdict(Outcome.FITS, queue, cards=cards, warnings=warnings)
    never = any(s.never for s in other_shorts) or (
        bool(card_shorts) and all(s.never for s in card_shorts)
    )
    reason = _reason(account, card_shorts, other_shorts)
    shorts = [*card_shorts, *other_shorts]
    return _short(queue, reason, shorts, never=never, rows=sorted(account.quota))


def _barred(ledger: Ledger, account: Account | None, queue: str, facts: PodFacts) -> Verdict | None:
    """What keeps a pod out of a queue whatever it asks for (E5, Q6)."""
    if account is None or account.facts is None:
        return Verdict(
            Outcome.NEVER, queue, Reason.QUEUE_NOT_FOUND, messages.queue_not_found(queue)
        )
    if facts.own_queue and facts.own_queue != queue:
        text = messages.queue_disagrees(facts.group, queue, facts.own_queue)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    if account.facts.state is not QueueState.OPEN:
        text = messages.queue_not_open(queue, account.facts.state)
        return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_OPEN, text)
    if not account.facts.admits(facts.namespace):
        text = messages.namespace_not_admitted(queue, facts.namespace)
        return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_OPEN, text)
    return None


class _Asking:
    """Arithmetic of one request against one queue's totals."""

    def __init__(
        self,
        ledger: Ledger,
        account: Account,
        facts: PodFacts,
        *,
        at_create: bool,
        extra: Mapping[str, int],
    ) -> None:
        self._account = account
        self._book = ledger.groups.get(facts.group) if facts.group else None
        self._at_create = at_create
        self._extra = extra

    def cards(self, request: PodRequest) -> tuple[Charge, list[Shortfall]]:
        """The first alternative that fits, or what is short of each."""
        if not request.amount:
            return (), []
        shorts = []
        for card in request.cards:
            short = self._short_of(card, request.amount)
            if short is None:
                return ((card, request.amount),), []
            shorts.append(short)
        return (), shorts

    def cpu_memory(self, request: PodRequest) -> list[Shortfall]:
        """What is short of cpu and memory."""
        found = (self._short_of(name, amount) for name, amount in _cpu_memory(request))
        return [short for short in found if short is not None]

    def _short_of(self, dimension: str, amount: int) -> Shortfall | None:
        limit = self._account.limit(dimension)
        if limit is None or amount <= 0:  # E4
            return None
        row = self._account.row(dimension)
        would_be = row.charged - self._covered(dimension, amount) + amount
        would_be += self._extra.get(dimension, 0)
        if self._at_create:
            would_be += row.by_bucket[Bucket.GATED_DENY]
        return Shortfall(dimension, amount, would_be, limit) if would_be > limit else None

    def _covered(self, dimension: str, amount: int) -> int:
        """How much of the request, and of what was judged with it, its own group's reservation
        already holds: the request takes its place and is not added to it (E2).
        """
        book = self._book
        reservation = book.reservation if book else None
        if book is None or reservation is None or reservation.queue != self._account.name:
            return 0
        return min(book.outstanding(dimension), amount + self._extra.get(dimension, 0))


def _reason(account: Account, cards: list[Shortfall], others: list[Shortfall]) -> Reason:
    if cards:
        outside = all(short.dimension not in account.quota for short in cards)
        return Reason.CARD_NOT_IN_QUOTA if outside else Reason.INSUFFICIENT_CARD
    short = next((s for s in others if s.never), others[0])
    cpu = short.dimension == CPU
    return Reason.INSUFFICIENT_CPU if cpu else Reason.INSUFFICIENT_MEMORY


def _short(
    queue: str,
    reason: Reason | None,
    shorts: Sequence[Shortfall],
    *,
    never: bool,
    rows: Sequence[str] = (),
) -> Verdict:
    if reason is Reason.CARD_NOT_IN_QUOTA:
        advice = messages.advice_not_in_quota(rows)
    elif never:
        advice = messages.advice_never([short for short in shorts if short.never])
    else:
        advice = messages.ADVICE_WAIT
    return Verdict(
        Outcome.NEVER if never else Outcome.WAITS,
        queue,
        reason,
        messages.shortfalls(queue, shorts, advice),
        tuple(shorts),
    )


def _warnings(ledger: Ledger, request: PodRequest) -> tuple[str, ...]:
    """A pool scaled to zero is worth a word (P4)."""
    if request.cards and not any(ledger.nodes.total(card) for card in request.cards):
        return (messages.card_of_no_node(request.cards[0]),)
    return ()
