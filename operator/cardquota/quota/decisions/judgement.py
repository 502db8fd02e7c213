"""May this pod be released? (E4, E5, E9, and the checks before them)

Pure questions to the ledger: nothing is charged here.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from ..accounts.account import OUTSIDE, AccountReader
from ..amounts import NO_AMOUNTS, Amounts, is_card
from ..kept_objects import KeptObjects, LeftOut
from ..ledger.ledger_reader import LedgerReader
from ..messages import gang_messages, gate_messages, queue_messages, request_messages
from ..pods.pod_facts import PodFacts, State, memory_of
from ..pods.pod_record import PodRecord
from ..pods.pod_request import CardChoice, PodRequest, card_devices
from ..verdict import Outcome, Verdict
from ..vocabulary import GPU_MEMORY, NAMESPACE_ENFORCED, Mode, QueueState, Reason
from .assignment import MemberKind, most_assigned
from .borrowing import with_borrowing
from .queue_room import QueueRoom, has_free, over_quota, shut_to
from .verdict_texts import queue_meant, with_group_meant

_MOST_KINDS: Final = 64
"""Kinds of waiting members that are looked at when a member goes by itself."""


def judge_new(
    ledger: LedgerReader,
    facts: PodFacts,
    *,
    require_queue: bool = False,
    extra: Amounts = NO_AMOUNTS,
    may_borrow: bool = True,
) -> Verdict:
    """The verdict on a pod that is being created.

    `extra`: amounts to count in addition, as `create_judgement` finds them. `may_borrow`: whether
    it may use what its queue lends (R6).
    """
    queue = ledger.queue_of(facts)
    group = ledger.groups.get(facts.group) if facts.group else None
    # A group that has not been seen: a stale view never refuses.
    unseen = bool(facts.group) and (group is None or group.facts is None)
    # An unseen group may have another queue than the pod's namespace.
    certain = OUTSIDE if unseen and not facts.own_queue else queue
    if _enforced(ledger, facts.namespace) and ledger.claims_devices(facts):
        text = request_messages.device_claimed()
        return _invalid(ledger, facts, certain, Reason.DEVICE_CLAIMED, text)
    if queue == OUTSIDE and not unseen:
        return _without_queue(ledger, facts, require_queue=require_queue)
    if facts.node and facts.state is State.BOUND:
        text = request_messages.node_named(facts.node)
        return _invalid(ledger, facts, certain, Reason.NODE_NAMED, text)
    size = ledger.kept_pod_size(facts)
    too_much = ledger.kept_pods.too_much("", facts.namespace, size)
    if too_much is not None:
        text = request_messages.too_much_kept(too_much.limit, too_much.found)
        return _invalid(ledger, facts, certain, Reason.TOO_MUCH_KEPT, text)
    if unseen and not facts.own_queue:
        return _queue_unknown(ledger, facts)
    verdict = judge(ledger, facts, queue, extra=extra)
    if verdict.outcome is Outcome.WAITS and may_borrow:
        verdict = with_borrowing(ledger, facts, verdict, extra)
    if unseen and verdict.outcome is not Outcome.NEVER:
        if (unread := _group_not_read(ledger, facts, queue)) is not None:
            return unread
        return with_group_meant(ledger, facts, _group_not_seen(facts, queue))
    return verdict


def queue_on_its_way(queue: str) -> Verdict:
    """The verdict on a pod whose queue exists but has not been seen: it waits at the gate."""
    text = queue_messages.queue_not_seen(queue)
    return Verdict(Outcome.UNSEEN, queue, Reason.QUEUE_NOT_FOUND, text, warnings=(text,))


def queue_not_named(ledger: LedgerReader, facts: PodFacts, queue: str) -> Verdict:
    """The verdict on a pod that has a queue but cannot get the gate until it names the queue.

    For a card of no vendor row, if the API server sets the gate.
    """
    text = queue_messages.queue_not_named(queue, _asked(ledger, facts))
    return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_FOUND, text)


def _queue_unknown(ledger: LedgerReader, facts: PodFacts) -> Verdict:
    """A pod whose queue only its unseen group knows: refused for what is wrong in any queue."""
    wrong = ledger.reading_of(facts, None).invalid_request
    if wrong is not None and wrong.reason is Reason.INVALID_CARD:
        return _invalid(ledger, facts, OUTSIDE, wrong.reason, wrong.text)
    return with_group_meant(ledger, facts, _group_not_seen(facts, OUTSIDE))


def _invalid(
    ledger: LedgerReader, facts: PodFacts, queue: str, reason: Reason, text: str
) -> Verdict:
    """A refusal of an invalid request that names what is known of it (I4)."""
    text = request_messages.invalid_request(queue, _asked(ledger, facts), text)
    return Verdict(Outcome.NEVER, queue, reason, text)


def _asked(ledger: LedgerReader, facts: PodFacts) -> list[tuple[str, int]]:
    """What a pod asks for, in its own terms: the cards it names, else the resources."""
    devices = card_devices(facts, ledger)
    if len(devices) == 1 and facts.card_text is not None:
        return [(facts.card_text, devices[0][1])]
    return devices


def judge_release(ledger: LedgerReader, record: PodRecord) -> Verdict:
    """The verdict on opening one pod's gate."""
    missing = judge_presence(ledger, record)
    if missing is not None:
        return missing
    if record.queue == OUTSIDE and not record.facts.oversized:
        text = gate_messages.gated_without_queue()
        return Verdict(Outcome.NEVER, OUTSIDE, Reason.QUEUE_NOT_FOUND, text)
    facts, request = record.facts, record.request
    group = ledger.groups.get(facts.group) if facts.group and not facts.oversized else None
    if group is not None and not group.started:
        return Verdict(Outcome.UNSEEN, record.queue)  # it starts together with others (E2)
    if ledger.with_volcano:
        verdict = _judge_elastic(ledger, record)
        if verdict is not None:
            return verdict
    if request is None or len(request.cards) < 2:
        return judge(ledger, facts, record.queue)
    for card in _reserved_for(ledger, record, request):
        verdict = judge(ledger, facts, record.queue, only=card)
        if verdict.fits:
            return verdict
    is_free = has_free(ledger, facts, request.amount)
    return judge(ledger, facts, record.queue, is_free=is_free)


def _judge_elastic(ledger: LedgerReader, record: PodRecord) -> Verdict | None:
    """The verdict on a member beyond the minimum of a gang that Volcano has not bound yet (V7).

    It gets the card that all others of the gang have, or waits until they are on nodes: of a task
    of which one pod fits no node, Volcano may try no other pod. None: it is none, or has no cards.
    """
    group, request = ledger.groups.get(record.facts.group), record.request
    if group is None or request is None or not request.amount or not group.waits_for_nodes:
        return None
    cards = {dimension for (_, dimension) in group.holds if is_card(dimension)}
    if len(cards) == 1 and (common := cards.intersection(request.cards)):
        verdict = judge(ledger, record.facts, record.queue, only=next(iter(common)))
        if verdict.fits or len(request.cards) == 1:
            return verdict
    on_nodes = group.bound + len(group.succeeded)
    text = gang_messages.waits_for_minimum(record.queue, group.key, on_nodes, group.minimum)
    return Verdict(Outcome.UNSEEN, record.queue, Reason.GANG_INCOMPLETE, text)


def _reserved_for(ledger: LedgerReader, record: PodRecord, request: PodRequest) -> Iterator[str]:
    """The cards that a member of a started gang tries first, if it has a choice (T2): the one that
    is reserved for it, then those of which nothing is reserved for others.

    The rest of the reservation is for all members that are still to go, so they are assigned
    together; of more than these, the ones with the least choice.
    """
    group = ledger.groups.get(record.facts.group) if record.facts.group else None
    if group is None or not group.rest_in(record.queue):
        return
    own, rest = CardChoice(request.cards, request.amount), dict(group.rest_in(record.queue))
    kinds, left = [MemberKind(*own, 1)], group.missing - 1
    some = islice(group.waiting.items(), _MOST_KINDS)
    for choice, waiting in sorted(some, key=lambda one: len(one[0].cards)):
        number = min(left, waiting - (choice == own))
        if number > 0 and choice.cards:
            kinds.append(MemberKind(*choice, number))
            left -= number
    yield from +most_assigned(rest, kinds)[0]
    yield from (card for card in request.cards if card not in rest)


def judge_presence(ledger: LedgerReader, record: PodRecord) -> Verdict | None:
    """What a gated pod waits for before its request can be judged: its group, or its gang.

    Costs a few steps. Its text has no guess which group was meant (`with_group_meant`).
    """
    facts = record.facts
    if ledger.gets_group(facts):
        text = gang_messages.group_to_come(record.queue)
        return Verdict(Outcome.UNSEEN, record.queue, Reason.GROUP_NOT_FOUND, text)
    if not facts.group or facts.oversized:
        return None
    group = ledger.groups[facts.group]
    if group.facts is None:
        return _group_not_read(ledger, facts, record.queue) or _group_not_seen(facts, record.queue)
    if group.being_reserved:
        # The members that start are released once it is written, all others after that.
        return Verdict(Outcome.UNSEEN, record.queue)
    if not group.gang or group.started or group.complete:
        return None
    tasks = group.tasks_to_come
    if tasks:
        text = gang_messages.gang_tasks_incomplete(group.key, tasks)
    else:
        text = gang_messages.gang_incomplete(group.key, group.members_existing, group.minimum)
    return Verdict(Outcome.UNSEEN, record.queue, Reason.GANG_INCOMPLETE, text)


def _group_not_read(ledger: LedgerReader, facts: PodFacts, queue: str) -> Verdict | None:
    """The verdict on a pod of whose group only the name is kept (P8)."""
    left_out = ledger.kept_groups.left_out(facts.group)
    if left_out is None:
        return None
    why = why_not_read(ledger.kept_groups, left_out)
    text = request_messages.not_read("PodGroup", facts.group, why)
    return Verdict(Outcome.UNSEEN, queue, Reason.TOO_MUCH_KEPT, text, warnings=(text,))


def why_not_read(kept: KeptObjects, left_out: LeftOut) -> str:
    """Why only the name of an object is kept, in the numbers of now."""
    found = kept.too_much("", left_out.namespace, left_out.size)
    if found is None:
        return request_messages.room_to_read()
    return request_messages.too_much_kept(*found, of="it")


def _group_not_seen(facts: PodFacts, queue: str) -> Verdict:
    text = queue_messages.group_not_seen(facts.group)
    return Verdict(Outcome.UNSEEN, queue, Reason.GROUP_NOT_FOUND, text, warnings=(text,))


def _enforced(ledger: LedgerReader, namespace: str) -> bool:
    found = ledger.namespaces.get(namespace)
    return found is not None and found.mode == NAMESPACE_ENFORCED


def _without_queue(ledger: LedgerReader, facts: PodFacts, *, require_queue: bool) -> Verdict:
    """A pod without a queue: refused where a queue is required, else admitted (section 2)."""
    if not ledger.uses_cards(facts):
        return Verdict(Outcome.UNMANAGED)
    enforced = _enforced(ledger, facts.namespace)
    if require_queue or enforced:
        asked = _asked(ledger, facts)
        text = queue_messages.no_queue(facts.namespace, asked, everywhere=not enforced)
        return Verdict(Outcome.NEVER, OUTSIDE, Reason.QUEUE_NOT_FOUND, text)
    if ledger.settings.memory_by_row and memory_of(facts.devices):
        text = queue_messages.memory_without_queue(facts.namespace)
        return Verdict(Outcome.NEVER, OUTSIDE, Reason.QUEUE_NOT_FOUND, text)
    named = facts.card_text
    warnings = (queue_messages.card_without_queue(named),) if named is not None else ()
    return Verdict(Outcome.UNMANAGED, warnings=warnings)


def judge(
    ledger: LedgerReader,
    facts: PodFacts,
    queue: str,
    *,
    extra: Amounts = NO_AMOUNTS,
    only: str | None = None,
    is_free: Callable[[str], bool] | None = None,
) -> Verdict:
    """The verdict on an unbound pod in a queue, whatever group it waits for.

    `extra`: amounts to count in addition, as what is asked for together with it. Of several cards
    the verdict has the first with room that nodes have free, else the first with room (E7). `only`:
    judge this one card.
    """
    account = ledger.account(queue)
    kept_out = _barred(ledger, account, queue, facts)
    if kept_out is not None or account is None:
        return kept_out or Verdict(Outcome.NEVER, queue)
    request, wrong, _, without_node = ledger.reading_of(facts, account)
    if without_node:
        card = facts.card_text or request.resource
        text = request_messages.node_without_card(queue, card, request.amount)
        return Verdict(Outcome.UNSEEN, queue, Reason.NODE_WITHOUT_CARD, text, warnings=(text,))
    if wrong is not None:
        found = _invalid(ledger, facts, queue, wrong.reason, wrong.text)
        if wrong.reason is Reason.CARD_UNCLEAR:
            told = (request_messages.card_unclear_yet(),)
            return found._replace(outcome=Outcome.UNSEEN, warnings=told)
        return found
    group = ledger.groups.get(facts.group) if facts.group else None
    room = QueueRoom(account, group, extra)
    cards, card_shorts = room.choose(request, only=only, is_free=is_free)
    other_shorts = room.cpu_memory(request)
    if not card_shorts and not other_shorts:
        warnings = _warnings(ledger, facts, request)
        if memory_of(facts.devices) and not ledger.counts(GPU_MEMORY):
            warnings = (*warnings, request_messages.memory_not_limited(queue))
        return Verdict(Outcome.FITS, queue, cards=cards, warnings=warnings)
    never = any(s.never for s in other_shorts) or (
        bool(card_shorts) and all(s.never for s in card_shorts)
    )
    return over_quota(ledger, account, [*card_shorts, *other_shorts], never=never)


def _barred(
    ledger: LedgerReader, account: AccountReader | None, queue: str, facts: PodFacts
) -> Verdict | None:
    """What keeps a pod out of a queue, whatever it asks for: it contradicts its group, or the queue
    is missing or not open, or not to its namespace (E5, Q6).
    """
    if facts.oversized:
        # Judged whatever queue it names: the oversized text may be that name.
        return _invalid(ledger, facts, queue, Reason.INVALID_CARD, facts.problem)
    exists = account is not None and account.facts is not None
    if exists and facts.own_queue and facts.own_queue != queue:
        asked = _asked(ledger, facts)
        text = queue_messages.queue_disagrees(facts.group, queue, facts.own_queue, asked)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    if account is None or account.facts is None:
        meant, asked = queue_meant(ledger, queue, facts.namespace), _asked(ledger, facts)
        group = ledger.groups.get(facts.group) if facts.group else None
        # Where the pod has it from its group, its own annotation could not name another.
        by_group = group is not None and group.facts is not None and group.facts.queue == queue
        of = facts.group if by_group else None
        text = queue_messages.queue_not_found(queue, asked, meant=meant, group=of)
        return Verdict(Outcome.NEVER, queue, Reason.QUEUE_NOT_FOUND, text)
    if account.facts.state is QueueState.OPEN and account.facts.admits(facts.namespace):
        return None
    return shut_to(account, facts.namespace, _asked(ledger, facts))


def _warnings(ledger: LedgerReader, facts: PodFacts, request: PodRequest) -> tuple[str, ...]:
    """A warning if no node has any of the cards, as of a pool scaled to zero, or none that the pod
    selects, or none as many on one node (P4).
    """
    if not request.cards:
        return ()
    nodes, waits = ledger.nodes, ledger.mode_in(facts.namespace) is not Mode.AUDIT
    enough = next((card for card in request.cards if nodes.most(card) >= request.amount), None)
    if enough is not None:
        selects = nodes.picks_by_node(facts.selector)
        if selects and set(request.cards).isdisjoint(nodes.picked(facts.selector)):
            return (request_messages.card_of_no_node(enough, selects=True, waits=waits),)
        return ()
    card = max(request.cards, key=nodes.most)
    if most := nodes.most(card):
        return (request_messages.more_than_a_node(card, request.amount, most, waits=waits),)
    return (request_messages.card_of_no_node(request.cards[0], waits=waits),)
