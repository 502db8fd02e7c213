"""May this gang start? Its members together, or none (E2).

Pure questions to the ledger: nothing is charged here.
"""

from collections.abc import Sequence

from .judgement import judge
from .ledger import Ledger
from .over_quota import over_quota
from .pod_record import PodRecord
from .pod_request import PodRequest
from .stamp import Charge
from .verdict import Outcome, Shortfall, Verdict
from .vocabulary import CPU, MEMORY


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
    verdict = judge(ledger, record.facts, record.queue, beside=beside)
    if verdict.fits:
        others = record.request.cpu_memory if record.request else ()
        for dimension, amount in (*verdict.cards, *others):
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
    rows = account.cards if account else ()
    return over_quota(verdict.queue, verdict.reason, shorts, never=never, rows=rows)


def _too_many(members: Sequence[PodRecord], shorts: Sequence[Shortfall]) -> bool:
    """Whether the members that can use no other cards ask for more than all of these allow."""
    cards = {short.dimension for short in shorts}
    requests = [record.request for record in members if record.request and record.request.cards]
    asked = sum(request.amount for request in requests if cards.issuperset(request.cards))
    return asked > sum(short.capability for short in shorts)


def _asks(request: PodRequest | None, dimension: str) -> int:
    if request is None:
        return 0
    if dimension in request.cards:
        return request.amount
    return dict(request.cpu_memory).get(dimension, 0)
