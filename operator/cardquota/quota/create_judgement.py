"""May this pod be created? The question of release, asked earlier: who is on the way through the
gate under policy Deny counts as let through (E2).

On the way is who could go now: whose gate the leader would open, were it to look. Who waits for
anything else than quota (its group, its node, an open queue), or for more of it than there is, is
in nobody's way. Pure questions to the ledger: nothing is charged here.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from itertools import islice
from typing import Final

from .account import Account
from .claim import Claim, claim_of
from .gang import Gang
from .gang_judgement import judge_gang
from .judgement import judge, judge_new, judge_presence
from .ledger import Ledger
from .on_the_way import NOBODY, OnTheWay
from .pod_facts import PodFacts
from .pod_record import PodRecord
from .verdict import Verdict
from .vocabulary import Mode

MOST_LANES: Final = 32
"""Kinds of waiting pods that are looked at when one more is created. Beyond that a pod is let by
that might have been refused: it is gated."""
_MOST_MEMBERS: Final = 64
"""Of a gang that starts whole: as above."""
_NOTHING: Final[Mapping[str, int]] = {}
_NOBODY: Final[Mapping[Hashable, int]] = {}


def judge_create(
    ledger: Ledger,
    facts: PodFacts,
    *,
    require_queue: bool = False,
    beside: Mapping[str, int] = _NOTHING,
) -> Verdict:
    """The verdict on a pod that is being created.

    `beside` is what else the caller wants counted, by dimension.
    """
    way = on_the_way(ledger, ledger.account(ledger.queue_of(facts)))
    return judge_new(ledger, facts, require_queue=require_queue, beside=beside, on_the_way=way)


def on_the_way(
    ledger: Ledger, account: Account | None, *, but: Mapping[Hashable, int] = _NOBODY
) -> OnTheWay:
    """What the gated Deny pods of a queue will hold that could go now, `but` so many of a lane.

    Costs a judgement for each kind of them, at most `MOST_LANES`; nothing where there are none.
    """
    if account is None or not account.waiting.deny_lanes:
        return NOBODY
    amounts, claims = Counter[str](), Counter[Claim]()
    for record, number in _that_could_go(ledger, account, but):
        request = record.request
        if number <= 0 or request is None:
            continue
        for dimension, amount in request.cpu_memory:
            amounts[dimension] += amount * number
        if len(request.cards) > 1 and request.amount:
            claims[claim_of(request.cards, request.amount)] += number
        elif request.cards:
            amounts[request.cards[0]] += request.amount * number
    return OnTheWay(amounts, tuple(claims.items()))


def _that_could_go(
    ledger: Ledger, account: Account, left_out: Mapping[Hashable, int]
) -> Iterator[tuple[PodRecord, int]]:
    """One pod of each kind that could go now, and how many are alike."""
    gangs = set[str]()
    for key, number in islice(account.waiting.deny_lanes.items(), MOST_LANES):
        lane = account.waiting.lanes[key]
        if lane.gang is None or lane.gang.started:
            first = ledger.pods[lane.turns[0][-1]]
            if _could_go(ledger, first):
                yield first, number - left_out.get(key, 0)
        elif lane.gang.key not in gangs:
            gangs.add(lane.gang.key)
            for member in _starting(ledger, account, lane.gang):
                yield member, 0 if left_out.get(member.lane) else 1


def _could_go(ledger: Ledger, record: PodRecord) -> bool:
    if ledger.mode_in(record.facts.namespace) is not Mode.ENFORCE:
        return True
    if judge_presence(ledger, record) is not None:
        return False
    return judge(ledger, record.facts, record.queue).fits


def _starting(ledger: Ledger, account: Account, gang: Gang) -> list[PodRecord]:
    """The members that a gang would start with now."""
    book = ledger.groups[gang.key]
    if book.missing > _MOST_MEMBERS:
        return []
    turns = islice(account.waiting.turns_of(gang), book.missing)
    members = [ledger.pods[turn[-1]] for turn in turns]
    if len(members) < book.missing or judge_presence(ledger, members[0]) is not None:
        return []
    return members if judge_gang(ledger, members)[0].fits else []
