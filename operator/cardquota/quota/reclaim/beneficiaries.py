"""For whom room is made: who waits for nodes or for its queue's quota, and for how long (L3)."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import Final

from ..accounts.account import AccountReader
from ..amounts import MutableAmounts, add_amounts, is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pending.candidate import Candidate
from ..pods.pod_facts import State
from ..pods.pod_record import ChargeState, PodRecord, SortKey
from ..release.release_judge import ReleaseJudge
from ..steps import Steps
from ..vocabulary import COMPUTE_RESOURCES, Mode, Reason
from .plan import Beneficiary, ReclaimWay

AT_A_TIME: Final = 512
"""Pods, or accounts, that one step looks at: about a millisecond."""
_MOST_KINDS: Final = 16
"""Of a gang's pods, by card, number and the nodes that they may use. Each kind costs a look at all
nodes. For gangs of more kinds no room is made."""
_FIRST: Final = 16
"""Of those that wait for the same quota, so many are looked at: the first of them that may have
room made is taken."""


def reclaim_waiters(
    ledger: LedgerReader, since: Mapping[str, float], now: float, after: float
) -> Steps[list[Beneficiary]]:
    """Those for whom others may give back what they hold beyond what they deserve (L3): released,
    without a node for `after` seconds, and within what their queue deserves. In the order of their
    queues and then within these, as gates open (E6).

    `since`: when the caller first saw each of `ledger.unplaced`, by the clock of `now`; one that is
    missing there was just seen. Whether nodes have room for them is not looked at here.
    """
    found: list[tuple[str, str, int, str, str, Beneficiary]] = []
    gangs: set[str] = set()
    for number, uid in enumerate(list(ledger.unplaced), 1):
        if number % AT_A_TIME == 0:
            yield
        record = ledger.pods.get(uid)
        if record is None or since.get(uid, now) + after > now or not waits_for_node(record):
            continue
        if record.facts.group in gangs:
            continue
        group, members = waits_with(ledger, record)
        if group is not None:
            gangs.add(group.key)
        card = next(filter(None, map(_card_of, members)), "")
        if card and may_have_room_made(ledger, members) and is_owed(ledger, members):
            one = beneficiary_of(ReclaimWay.RECLAIM, members, group, card)
            made = min(member.facts.created for member in members)
            found.append((one.queue, card, -one.priority, made, one.key, one))
    # By numbers, as thousands may wait and a comparison of shares costs microseconds.
    places = {pair: _place_of(ledger, *pair) for pair in {row[:2] for row in found}}
    order = {place: number for number, place in enumerate(sorted(set(places.values())))}
    ranks = {pair: order[place] for pair, place in places.items()}
    yield
    ranked = [(ranks[row[:2]], *row[2:5], row[5]) for row in found]
    yield
    ranked.sort()
    return [row[-1] for row in ranked]


def preempt_waiters(ledger: LedgerReader, cutoff: str) -> Steps[list[Beneficiary]]:
    """Those for whom pods of lower priority in their own queue may end (L3): at the gate, created
    at `cutoff` or before, as the API server writes times, and short of nothing but cards. Of those
    that ask for the same the first; the highest priority first.

    By what release has last found: on a replica that does not lead nobody waits.
    """
    found: list[tuple[tuple[int, str], Beneficiary]] = []
    for number, account in enumerate(list(ledger.accounts()), 1):
        if number % AT_A_TIME == 0:
            yield
        for inadmissible in account.pending.inadmissible:
            lacking = inadmissible.shortage.closes
            if inadmissible.shortage.reason is not Reason.INSUFFICIENT_CARD or not lacking:
                continue
            if not lacking.isdisjoint(COMPUTE_RESOURCES):
                continue
            of_these = chain.from_iterable(map(_each, inadmissible))
            for candidate, sort_key in islice(of_these, _FIRST):
                one = _at_the_gate(ledger, account, candidate, sort_key)
                if one is not None and sort_key.made <= cutoff:
                    found.append(((-one.priority, sort_key.made), one))
                    break
    return [one for _, one in sorted(found, key=lambda row: (row[0], row[1].key))]


def _each(candidate: Candidate) -> Iterator[tuple[Candidate, SortKey]]:
    """The pods that ask for the same, in order; of a gang, or a group without pods, its place."""
    if candidate.gang is None and candidate.group_to_enqueue is None:
        for sort_key in candidate.classes[0].sort_keys:
            yield candidate, sort_key
    else:
        yield candidate, candidate.sort_key


def _at_the_gate(
    ledger: LedgerReader, account: AccountReader, candidate: Candidate, sort_key: SortKey
) -> Beneficiary | None:
    if candidate.group_to_enqueue is not None:
        return None
    members, group = [ledger.pods[sort_key.uid]], None
    if candidate.gang is not None:
        group = ledger.groups[candidate.gang.key]
        members = ReleaseJudge(ledger, account).starting(candidate, group)
    asked = (one.request.cards for one in members if one.request and one.request.amount)
    cards = next(filter(None, asked), ())
    if not cards or not may_have_room_made(ledger, members):
        return None
    return beneficiary_of(ReclaimWay.PREEMPT, members, group, cards[0])


def waits_for_node(record: PodRecord) -> bool:
    """Whether we have opened its gate, it has no node, and is not being deleted."""
    facts = record.facts
    return facts.stamp is not None and facts.state is State.OPEN and not facts.terminating


def gang_of(ledger: LedgerReader, record: PodRecord) -> PodGroupState | None:
    """The gang of a pod; None: it is in none."""
    group = ledger.groups.get(record.facts.group) if record.facts.group else None
    return group if group is not None and group.gang else None


def waits_with(
    ledger: LedgerReader, record: PodRecord
) -> tuple[PodGroupState | None, Sequence[PodRecord]]:
    """A pod that waits for a node, alone; or its gang with the members that get nodes together:
    none, while others of these still wait at a gate, or do not exist.
    """
    group = gang_of(ledger, record)
    if group is None or missing_on_nodes(group) <= 0:
        return None, [record]
    return group, lacking_members(group)


def lacking_members(group: PodGroupState) -> Sequence[PodRecord]:
    """Those that wait for a node and are missing there for the minimum of a gang, in order; all
    that wait, where it says a minimum of each task. None if they are fewer than are missing, and
    once its minimum is on nodes: then each waits for itself.
    """
    missing = missing_on_nodes(group)
    waiting = sorted(filter(waits_for_node, group.members.values()), key=lambda r: r.sort_key)
    if missing <= 0 or len(waiting) < missing:
        return ()
    return waiting if group.tasks else waiting[:missing]


def missing_on_nodes(group: PodGroupState) -> int:
    """How many pods a gang lacks there for its minimum; 0 or less: none."""
    return group.minimum - group.bound - len(group.succeeded)


def cards_asked(members: Sequence[PodRecord]) -> MutableAmounts:
    """What pods that were released are charged together, of each card."""
    found: MutableAmounts = {}
    for one in members:
        add_amounts(found, ((card, n) for card, n in one.charge if n and is_card(card)))
    return found


def is_owed(
    ledger: LedgerReader, members: Sequence[PodRecord], promised: Mapping[str, int] | None = None
) -> bool:
    """Whether their queue deserves what they ask for, beside all that is bound there and what was
    `promised` to it of each card.
    """
    queue = members[0].queue
    account = ledger.account(queue)
    if account is None or account.facts is None:
        return False
    others = promised or {}
    return all(
        account.row(card).by_charge_state[ChargeState.ALLOCATED] + others.get(card, 0) + asked
        <= ledger.shares.shown(queue, card)
        for card, asked in cards_asked(members).items()
    )


def _card_of(record: PodRecord) -> str:
    return next((card for card, amount in record.charge if amount and is_card(card)), "")


def may_have_room_made(ledger: LedgerReader, members: Sequence[PodRecord]) -> bool:
    """Whether rules are enforced for all of them, in one queue, and none ends nobody for itself;
    and they are of few kinds.
    """
    kinds = {
        (one.charge, one.request, one.facts.selector, one.facts.tolerations) for one in members
    }
    return (
        len({one.queue for one in members}) == 1
        and len(kinds) <= _MOST_KINDS
        and not any(
            one.facts.never_preempts
            or one.facts.oversized
            or ledger.mode_in(one.facts.namespace) is not Mode.ENFORCE
            for one in members
        )
    )


def beneficiary_of(
    way: ReclaimWay, members: Sequence[PodRecord], group: PodGroupState | None, card: str
) -> Beneficiary:
    """Of the pods that wait together. `group`: their gang; None: a pod alone. `card`: what it
    lacks.
    """
    facts = members[0].facts
    namespace, _, name = group.key.partition("/") if group is not None else ("", "", "")
    return Beneficiary(
        way=way,
        key=group.key if group is not None else facts.uid,
        namespace=namespace or facts.namespace,
        name=name or facts.name,
        gang=group is not None,
        queue=members[0].queue,
        card=card,
        amount=sum(_asked_of(members, card)),
        priority=min(one.facts.priority for one in members),
        uids=tuple(sorted(one.facts.uid for one in members)),
    )


def _asked_of(members: Sequence[PodRecord], card: str) -> Iterator[int]:
    for one in members:
        if one.request is None:
            yield dict(one.charge).get(card, 0)
        elif card in one.request.cards:
            yield one.request.amount


_QueuePlace = tuple[int, Fraction, str]
"""Of those who wait for the same card in a queue: by this in order."""


def _place_of(ledger: LedgerReader, queue: str, card: str) -> _QueuePlace:
    account = ledger.account(queue)
    facts = account.facts if account is not None else None
    held = account.row(card).allocated if account is not None else 0
    share = Fraction(held, max(1, ledger.shares.shown(queue, card)))
    return -(facts.priority if facts else 0), share, queue
