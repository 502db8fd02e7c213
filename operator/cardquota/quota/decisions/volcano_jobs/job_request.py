"""What the pods of a Job that start together ask for (V3), and whether what the Job says in
`card.request` agrees with it (V4).
"""

from collections import Counter
from collections.abc import Sequence

from ...assignment.assignment import Assignment
from ...assignment.claim import claim_of
from ...ledger.groups.group_facts import GroupFacts
from ...ledger.groups.group_request import AskedCards
from ...ledger.ledger_reader import LedgerReader
from ...messages.volcano import volcano_job_messages
from ...objects.volcano_job import WrittenVolcanoJob
from ...stamp import choice_text
from ...steps import Steps
from ..groups.enqueue_vote import EnqueueRequest
from .job_minimum import JobKind, least_and_most, starting
from .job_pods import read_job


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


def request_disagreement(
    said: Sequence[AskedCards], kinds: Sequence[JobKind], more: int, *, together: int
) -> str:
    """A Warning if no choice of pods that start together asks for these cards; else empty.

    `more`: as for `minimum_fault`. `together`: how many pods start together. Where Volcano may
    choose which pods start, only the number of cards is compared.
    """
    least, most = least_and_most(kinds, more, lambda request: request.amount)
    number = sum(row.number for row in said)
    if least <= number <= most and (more or _agree(said, kinds)):
        return ""
    asked = Counter[str]()
    for kind in kinds:
        if kind.request.amount:
            asked[choice_text(kind.request.cards)] += kind.sure * kind.request.amount
    return volcano_job_messages.request_disagrees(
        [("|".join(row.cards), row.number) for row in said],
        together,
        [] if more else [(card, amount) for card, amount in asked.items() if amount],
        (least, most),
    )


def _agree(said: Sequence[AskedCards], kinds: Sequence[JobKind]) -> bool:
    """Whether each card that the pods ask for can be counted in a row of its own."""
    rows = {str(index): row for index, row in enumerate(said)}
    room = Assignment(lambda name: rows[name].number)
    with room.one_question():
        for kind in kinds:
            number = kind.sure * kind.request.amount
            cards = {*kind.request.cards}
            names = tuple(n for n, row in rows.items() if not cards.isdisjoint(row.cards))
            if number and not names:
                return False
            if number and room.place_many(claim_of(names, 1), number) < number:
                return False
    return True
