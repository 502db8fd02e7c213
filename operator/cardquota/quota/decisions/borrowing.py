"""What the rolling updates of a queue may borrow beyond its quota, for a time (R6).

An update with a surge starts a new pod before it ends an old one. On a full queue such a pod may
get its card all the same, if the queue lends it, and if the workload holds as much already as all
pods that it wants ask for: so it is one too many, and an old one goes for it. Nothing notes what is
borrowed: it is what is charged beyond the quota, and given back with the old pod.
"""

from bisect import bisect_left
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import NO_AMOUNTS, Amounts, Charge, MutableAmounts, add_amounts, is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages.shortfall_messages import advice_rollout
from ..pods.pod_facts import PodFacts
from ..pods.pod_request import PodRequest
from ..pods.queue_pods import DAEMON_SET, REPLICA_SET, PodMaker, WorkloadUsage, surging_maker
from ..pods.workload_facts import WorkloadFacts
from ..verdict import Outcome, Shortfall, Verdict
from .queue_room import QueueRoom, over_quota

MOST_LENT: Final = 16
"""Alternatives of a pod that may be borrowed."""


def with_borrowing(
    ledger: LedgerReader, facts: PodFacts, verdict: Verdict, extra: Amounts = NO_AMOUNTS
) -> Verdict:
    """The verdict on a pod that has no room, if it may borrow; or else says what would help.

    Any other verdict is returned as it is. `extra`: amounts to count in addition.
    """
    account, queue = ledger.account(verdict.queue), verdict.queue
    if verdict.outcome is not Outcome.WAITS or account is None:
        return verdict
    cards_alone = all(is_card(one.dimension) for one in verdict.shortfalls)
    if not cards_alone or surging_maker(facts) is None:
        return verdict
    surplus = [
        short
        for short in verdict.shortfalls[:MOST_LENT]
        if not short.never and is_surplus(ledger, facts, queue, short.dimension, short.requested)
    ]
    group = ledger.groups.get(facts.group) if facts.group else None
    if group is None or not (group.gang or group.reservation is not None):
        for short in surplus:
            cards = _borrowed(ledger, facts, account, short, extra)
            if cards:
                return Verdict(Outcome.FITS, queue, cards=cards, borrows=True)
    if not surplus or any(short.fits_soon for short in verdict.shortfalls):
        return verdict  # it has room as soon as pods are gone that are being deleted
    advice = advice_rollout(account.lent(surplus[0].dimension), surplus[0].requested)
    return over_quota(ledger, account, verdict.shortfalls, never=False, advice=advice)


def _borrowed(
    ledger: LedgerReader,
    facts: PodFacts,
    account: AccountReader,
    short: Shortfall,
    extra: Amounts,
) -> Charge:
    """The card, if enough of it is lent; else empty.

    Nothing is lent while some of it is reserved: a gang that is to start within the quota would
    have to wait until it is given back.
    """
    card, lent = short.dimension, account.lent(short.dimension)
    if not lent or account.row(card).reserved:
        return ()
    room = QueueRoom(account, extra=extra)
    return room.choose(ledger.request_of(facts, account.name), only=card, lent=lent)[0]


def lent_now(account: AccountReader, card: str, extra: Amounts) -> int:
    """What rolling updates may still hold of a card, in cards, within the quota and beyond.
    `extra`: amounts to count in addition.
    """
    held = account.row(card).charged + extra.get(card, 0)
    return (account.allowed(card, account.lent(card)) or 0) - held


def is_surplus(ledger: LedgerReader, facts: PodFacts, queue: str, card: str, amount: int) -> bool:
    """Whether a pod that asks for so many of a card is one more than its workload wants, which
    holds all that it wants already: then it belongs to a rolling update.

    False also where the workload is not known as it was when the pod was made.
    """
    maker = surging_maker(facts)
    if maker is None:
        return False
    made = ledger.made_pods.of(queue, maker)
    if maker.kind == DAEMON_SET:
        if ledger.workloads.named(DAEMON_SET, maker.namespace, maker.name) is None:
            return False
        return made.held == 1 and made.cards.get(card, 0) >= amount
    made_by = ledger.workloads.named(REPLICA_SET, maker.namespace, maker.name)
    owner = ledger.workloads.get(made_by.owner) if made_by is not None else None
    if made_by is None or owner is None or owner.namespace != maker.namespace:
        return False
    # A Deployment's wish stands on its ReplicaSets too, written with the number of their pods: so
    # one that was scaled up a moment ago does not pass for one that is updated.
    number = made.living + (facts.uid not in ledger.pods)
    if owner.kind != "Deployment" or made_by.replicas < number:
        return False
    wanted = max(1, owner.replicas, made_by.desired)
    held, others = _held(ledger, owner, queue, card, but=made_by)
    return others > 0 and wanted * amount <= held


def _held(
    ledger: LedgerReader, owner: WorkloadFacts, queue: str, card: str, *, but: WorkloadFacts
) -> tuple[int, int]:
    """What a Deployment's pods hold of a card, and those of all its ReplicaSets but one."""
    total = others = 0
    for one in ledger.workloads.owned_by(owner.uid, owner.namespace):
        maker = PodMaker(one.namespace, one.kind, one.name)
        held = ledger.made_pods.of(queue, maker).cards.get(card, 0)
        total += held
        others += held if one is not but else 0
    return total, others


def must_go_first(
    account: AccountReader,
    request: PodRequest,
    own: WorkloadUsage,
    *,
    wanted: int = 0,
    group: PodGroupState | None = None,
    extra: Amounts = NO_AMOUNTS,
) -> int | None:
    """How many of a workload's own pods must be gone before one pod of this request has room.

    None: there is no room even without all of them. Their controller chooses which go first;
    here they go as `freed_by` has them. 0 where the queue lends enough for the first (R6), and so
    many pods as are `wanted` hold no more than there is already.
    """

    def has_room(gone: int) -> bool:
        left: MutableAmounts = dict(extra)
        add_amounts(left, ((d, -amount) for d, amount in own.freed_by(gone).items()))
        return QueueRoom(account, group, left).take(request, 1) > 0

    if has_room(0) or _lends_enough(account, request, own, wanted, extra):
        return 0
    if not has_room(own.holding):
        return None
    # Each pod that goes only adds room, so a binary search finds the first number that suffices.
    return 1 + bisect_left(range(1, own.holding), True, key=has_room)


def _lends_enough(
    account: AccountReader,
    request: PodRequest,
    own: WorkloadUsage,
    wanted: int,
    extra: Amounts,
) -> bool:
    held = own.freed_by(own.holding)
    return any(
        account.lent(card)
        and lent_now(account, card, extra) >= request.amount
        and 0 < wanted * request.amount <= held.get(card, 0)
        for card in request.cards[:MOST_LENT]
    )
