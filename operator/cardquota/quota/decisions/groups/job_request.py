"""What the pods of a Job that start together ask for (V3)."""

from collections import Counter

from ...ledger.groups.group_facts import GroupFacts
from ...ledger.groups.group_request import AskedCards
from ...ledger.ledger_reader import LedgerReader
from ...objects.workload import WrittenVolcanoJob
from ...steps import Steps
from .enqueue_vote import EnqueueRequest
from .job_minimum import starting
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
