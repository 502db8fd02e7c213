"""May this write of a pod group be admitted? (E5, P8, section 2)

Of a group that is there, only what the write changes is judged. So nobody is kept from writing its
status, its finalizers or its labels, whatever else is wrong with it.
Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Final

from ..amounts import Amount, QuantityError, whole
from ..ledger.groups.group_facts import (
    GroupFacts,
    GroupRequest,
    group_facts,
    group_request,
    minimum_problem,
    queue_said,
)
from ..ledger.ledger_reader import LedgerReader
from ..limits import RESOURCES
from ..messages import group_messages, request_messages
from ..objects.meta import ResourceList
from ..objects.pod_group import WrittenPodGroup
from ..verdict import Outcome, Verdict
from ..vocabulary import Reason
from .gang_judgement import fault_of_members
from .group_judgement import judge_group

_FITS: Final = Verdict(Outcome.FITS)
_REFUSED_TO_CONTROLLERS: Final = frozenset({Reason.INVALID_CARD, Reason.INSUFFICIENT_CARD})
"""What `card.request` says and cannot become right."""


def judge_group_write(
    ledger: LedgerReader,
    group: WrittenPodGroup,
    before: WrittenPodGroup | None = None,
    *,
    default_queue: str = "",
    by_controller: bool | None = None,
) -> Verdict:
    """The verdict on a group that is created, or that was `before` and is changed.

    NEVER: it is to be refused. WAITS: the same is wrong with a group that a controller made, which
    would give up, or its queue does not exist yet: it is admitted, and told. FITS: nothing is
    wrong, though there may be warnings. `default_queue`: of a group that names none.
    `by_controller`: whether a controller made it; by default as its owner references say.
    """
    if before is not None and _says(group) == _says(before):
        return _FITS
    facts = group_facts(group)
    facts.queue = _queue_of(group, default_queue)
    if by_controller is None:
        by_controller = any(owner.controller for owner in group.metadata.owner_references or ())
    problem = "" if by_controller else _minimum_problem(group, before)
    if problem:
        text = group_messages.group_refused(facts.key, problem)
        return Verdict(Outcome.NEVER, facts.queue, text=text)
    too_much = ledger.kept_groups.too_much(facts.key, facts.namespace, facts.kept_size)
    if before is None and too_much is not None:
        text = request_messages.too_much_kept(*too_much, of="the group")
        outcome = Outcome.WAITS if by_controller else Outcome.NEVER
        text = group_messages.group_refused(facts.key, text)
        return Verdict(outcome, facts.queue, Reason.TOO_MUCH_KEPT, text)
    enters = before is None or facts.queue != _queue_of(before, default_queue)
    request = _to_judge(ledger, group, before, facts, enters=enters)
    verdict = judge_group(ledger, replace(facts, request=request), enters=enters)
    if not verdict.fits:
        said = verdict.reason in _REFUSED_TO_CONTROLLERS and _asks(group)[0] is not None
        # Who applies a group before its queue (Helm does) is told; it waits (E5).
        bearable = (by_controller and not said) or verdict.reason is Reason.QUEUE_NOT_FOUND
        return verdict._replace(outcome=Outcome.WAITS) if bearable else verdict
    warnings = verdict.warnings
    asks_anew = before is None or _asks(group) != _asks(before)
    if asks_anew:
        warnings += _disagreement(ledger, facts.request, group.spec.min_resources)
    if asks_anew or enters:
        warnings += _resources_never_fit(ledger, facts, group.spec.min_resources)
    minimum_changed = before is not None and (group.spec.min_member or 0) != (
        before.spec.min_member or 0
    )
    if enters or minimum_changed:
        warnings += _members_never_start(ledger, facts)
    named = facts.priority_class
    if (before is None or group.spec.priority_class_name != before.spec.priority_class_name) and (
        named and not ledger.counts_for_groups(named)
    ):
        warnings += (group_messages.priority_class_not_counted(named),)
    if before is not None:
        warnings += _meaning(ledger, facts, moved=enters, minimum_changed=minimum_changed)
    return verdict._replace(warnings=warnings)


def _queue_of(group: WrittenPodGroup, default_queue: str) -> str:
    return queue_said(group.metadata.name, group.spec.queue or default_queue)


def _says(group: WrittenPodGroup) -> tuple[object, ...]:
    """All of a group that is judged."""
    spec = group.spec
    minimum = spec.min_member, spec.min_task_member
    return spec.queue or "", *minimum, spec.priority_class_name, *_asks(group)


def _asks(group: WrittenPodGroup) -> tuple[str | None, ResourceList | None]:
    notes = group.metadata.annotations
    return notes.request if notes is not None else None, group.spec.min_resources


def _minimum_problem(group: WrittenPodGroup, before: WrittenPodGroup | None) -> str:
    minimum = group.spec.min_member, group.spec.min_task_member
    if before is not None and minimum == (before.spec.min_member, before.spec.min_task_member):
        return ""
    return minimum_problem(*minimum)


def _to_judge(
    ledger: LedgerReader,
    group: WrittenPodGroup,
    before: WrittenPodGroup | None,
    facts: GroupFacts,
    *,
    enters: bool,
) -> GroupRequest:
    """What of its request is to be judged: what is new; in another queue all that can be read."""
    request = facts.request
    if before is not None and (not enters or request.problem):
        (text, resources), (old_text, old_resources) = _asks(group), _asks(before)
        request = group_request(
            text if text != old_text else None, resources if resources != old_resources else None
        )
    asked = group.spec.min_resources or {}
    with_cards = len(asked) > RESOURCES.most or any(map(ledger.counts, asked))
    if ledger.settings.exempt_cpu_memory and with_cards:
        # Of its pods those with cards will be free of cpu and memory, and who knows which (P6).
        request = request._replace(cpu_memory=())
    return request


def _card_resources(ledger: LedgerReader, resources: ResourceList) -> Iterator[Amount]:
    """What `spec.minResources` has of resources that count cards, as far as it can be read."""
    for resource in islice(resources, RESOURCES.most):
        if ledger.counts(resource):
            with suppress(QuantityError):
                yield resource, whole(resources[resource])


def _disagreement(
    ledger: LedgerReader, request: GroupRequest, resources: ResourceList | None
) -> tuple[str, ...]:
    """A warning if `spec.minResources` counts other cards than `card.request` asks for."""
    if not request.cards or not resources:
        return ()
    behind = ledger.catalog.resource(request.cards[0].cards[0])
    for resource, found in _card_resources(ledger, resources):
        asked = sum(row.number for row in request.cards) if behind in (None, resource) else 0
        if found != asked:
            return (group_messages.minimum_disagrees(resource, found, asked),)
    return ()


def _resources_never_fit(
    ledger: LedgerReader, facts: GroupFacts, resources: ResourceList | None
) -> tuple[str, ...]:
    """A warning if `spec.minResources` has more of a card's resource than its queue has quota for,
    of all cards together (E5). Where `card.request` says which cards, that was judged instead.
    Costs by the rows of the queue's quota.
    """
    account = ledger.account(facts.queue) if facts.queue else None
    if account is None or account.facts is None or facts.request.cards or not resources:
        return ()
    asked = dict(_card_resources(ledger, resources))
    quotas = Counter[str]()
    for card, amount in account.quota.items() if asked else ():
        behind = ledger.catalog.resource(card) or ledger.catalog.held_as(card)
        if behind is None:
            return ()  # of no node: it may be counted by any of them
        quotas[behind] += amount
    for resource, number in asked.items():
        if number > quotas[resource]:
            quota = quotas[resource]
            return (group_messages.minimum_never_fits(facts.queue, resource, number, quota),)
    return ()


def _members_never_start(ledger: LedgerReader, facts: GroupFacts) -> tuple[str, ...]:
    """A warning if the pods that are there cannot start alone with this minimum, here (E5).
    Where it says what they ask for, that was judged instead.
    """
    group, account = ledger.groups.get(facts.key), ledger.account(facts.queue)
    if group is None or account is None or account.facts is None or facts.request.cards:
        return ()
    found = fault_of_members(ledger, account, group, facts.min_member)
    if found is None:
        return ()
    text = group_messages.gang_never_starts(facts.key, facts.queue, found.minimum, found.most)
    return (text,)


def _meaning(
    ledger: LedgerReader, facts: GroupFacts, *, moved: bool, minimum_changed: bool
) -> tuple[str, ...]:
    """What another queue or minimum means for a group of which pods run (T2, E10)."""
    state = ledger.groups.get(facts.key)
    if state is None:
        return ()
    told, reserved = [], state.reservation
    there, stays = state.released, reserved is not None and reserved.queue == facts.queue
    if moved and there:
        told.append(group_messages.group_moved(facts.queue))
    if moved and reserved is not None and not stays:
        told.append(group_messages.group_reservation_ends(reserved.queue))
    if there and (moved or minimum_changed):
        together = facts.min_member > 1 and not stays
        missing = max(0, facts.min_member - there) if together else 0
        told.append(group_messages.group_goes_on(there, missing))
    return tuple(told)
