"""What Volcano's scheduler is told about enqueueing a group (V3).

Until a group is enqueued, Volcano creates no pods for it. So this decides whether pods come that
would only wait. It releases nothing: each pod has its gate. Pure questions to the ledger.
"""

from collections import Counter
from enum import IntEnum
from typing import NamedTuple

from ..accounts.account import Account
from ..amounts import Amount
from ..ledger.groups.group_facts import AskedCards, GroupFacts, GroupRequest, made_for_pods
from ..ledger.groups.pod_group_state import PodGroupState, Stage
from ..ledger.ledger_reader import LedgerReader
from ..objects.workload import WrittenVolcanoJob
from ..pods.pod_request import models_in
from ..steps import Steps
from ..vocabulary import Mode
from .volcano_job import read_job, starting


class Vote(IntEnum):
    """The numbers that Volcano expects."""

    REJECT = -1
    ABSTAIN = 0
    PERMIT = 1


class EnqueueRequest(NamedTuple):
    """What a group asks for before its pods are there."""

    request: GroupRequest
    exact: bool
    """Whether its pods will ask for just these cards, so that they can be reserved. Else each card
    may be any of several, and only its pods say which: `request` is the least that it needs.
    """


def enqueue_request(ledger: LedgerReader, facts: GroupFacts) -> EnqueueRequest | None:
    """By `card.request`; without it, by the one resource name of `spec.minResources` that counts
    cards, and the cards of the queue's quota behind it. None: it holds no cards, as far as is
    known, or it was made for pods that are there, each of which has its gate.
    """
    request = facts.request
    if request.cards or request.problem:
        return EnqueueRequest(request, exact=True)
    if made_for_pods(facts.name):
        return None
    counted = [one for one in request.resources if ledger.counts(one[0])]
    if len(counted) != 1:
        # Of none no cards are asked for; of several the annotation alone can say which.
        return None
    cards = _cards(ledger, facts.queue, counted[0])
    if not cards:
        return None
    rows = (AskedCards(cards, counted[0][1]),)
    return EnqueueRequest(GroupRequest(rows, request.cpu_memory), exact=len(cards) == 1)


def request_of_job(
    ledger: LedgerReader, job: WrittenVolcanoJob, facts: GroupFacts, found: EnqueueRequest
) -> Steps[EnqueueRequest | None]:
    """What its group is to be enqueued with: the cards that its pods would be charged. None: they
    ask for none. Not exact, so that nothing is reserved, where Volcano may choose which pods start,
    or where a task cannot be read.

    `found`: what the group says by itself. Raises ValueError for a template that cannot be read.
    """
    pods = yield from read_job(ledger, job, facts.namespace)
    start, account = starting(pods), ledger.account(facts.queue)
    asked, wrong = Counter[tuple[str, ...]](), False
    for task, sure in zip(pods.tasks, start.sure, strict=True):
        reading = ledger.reading_of(task.facts, account)
        request = reading.request
        wrong = wrong or reading.invalid_request is not None or reading.lacks_node
        if sure and request.amount and request.cards:
            asked[request.cards] += sure * request.amount
        yield
    if wrong or start.more:
        return found._replace(exact=False)
    if not asked:
        return None
    rows = tuple(AskedCards(cards, number) for cards, number in asked.items())
    return EnqueueRequest(found.request._replace(cards=rows, resources=()), exact=True)


def vote_without_judgement(ledger: LedgerReader, group: PodGroupState) -> Vote | None:
    """The vote on a group, where it does not depend on what its queue has room for. None: it does.

    Where nothing is enforced, or no cards are asked for, it is none of ours: where we permit,
    Volcano asks no later tier, as of its own plugins for cpu and memory. A group of which something
    is reserved, or that asks for cards and whose pods are there, is permitted: their gates decide.
    """
    facts = group.facts
    if facts is None or not facts.queue or ledger.mode_in(facts.namespace) is not Mode.ENFORCE:
        return Vote.ABSTAIN
    reserved = group.reservation is not None or group.unwritten
    if not reserved and enqueue_request(ledger, facts) is None:
        return Vote.ABSTAIN
    if group.stage is not Stage.WAITING:
        written = not group.unwritten and not group.reserved_elsewhere
        return Vote.PERMIT if written else Vote.REJECT
    return None


def _cards(ledger: LedgerReader, queue: str, asked: Amount) -> tuple[str, ...]:
    """Those of the quota, most first; else those that nodes have, for the words of a refusal."""
    account = ledger.account(queue) or Account(queue)
    found = models_in(account.quota, asked[0], ledger)
    return found or tuple(sorted(card.name for card in ledger.catalog.cards_of(asked[0])))
