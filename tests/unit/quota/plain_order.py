"""E6 one after the other, as the rule is written: who is released, who waits behind whom."""

from collections.abc import Hashable, Iterator

from cardquota.quota import Outcome
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import Candidate, Readiness
from cardquota.quota.release import Opening, ReleaseJudge, Starvation


def in_order(ledger: Ledger, account: Account) -> list[Candidate]:
    pending = account.pending
    while pending.refresh(ledger.epoch, account.limit):
        pass
    classes = (pod_class.candidate for pod_class in pending.classes.values())
    found = {id(one): one for one in (*classes, *pending.groups.values()) if one is not None}
    return sorted(found.values(), key=lambda one: one.release_key)


def walk(
    ledger: Ledger, account: Account, starvation: Starvation | None
) -> Iterator[tuple[Candidate, Opening]]:
    """Those that would be released, each as if none before it had been.

    Of those that ask for the same the first counts. One that was found to wait for something else
    than room counts for nobody until it is judged again.
    """
    judge, closed, seen = ReleaseJudge(ledger, account), set[str](), set[Hashable]()
    fifo = account.facts is not None and account.facts.fifo
    active = account.pending.active
    for candidate in in_order(ledger, account):
        asked, key = judge.asked_by(candidate), candidate.release_key
        if not judge.is_reserved(candidate) and not asked.isdisjoint(closed):
            continue
        blocked = candidate not in active and candidate.inadmissible is None
        found = judge.judge(candidate)
        if isinstance(found, Opening):
            yield candidate, found
            continue
        lost = key.made.startswith("~")
        long = starvation is not None and (
            starvation.waited(key.made) >= starvation.wait or key.readiness is Readiness.INCOMPLETE
        )
        lacks = found.needs is not None and found.verdict.outcome is Outcome.WAITS
        first = found.signature not in seen
        seen.add(found.signature)
        if lacks and first and not lost and not blocked and (fifo or long):
            short = {one.dimension for one in found.verdict.shortfalls}
            closed |= {one for one in asked if one not in ("cpu", "memory") or one in short}
