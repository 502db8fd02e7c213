"""The product with one of the safeguards taken out that are for Volcano alone."""

from typing import Any

from cardquota.extender import EnqueueAsk, EnqueueVotes
from cardquota.quota import Policy
from cardquota.quota.decisions import Vote
from cardquota.quota.ledger import LedgerReader
from cardquota.quota.pods import PodFacts

from .breaker import Breaker


def vote_unreserved(breaker: Breaker) -> None:
    """Volcano makes pods of whoever asks; what fits may go to others meanwhile."""
    vote_now = EnqueueVotes._vote_now

    def as_soon_as_asked(self: Any, ask: EnqueueAsk) -> Vote:
        found = vote_now(self, ask)
        if found is not Vote.REJECT:
            return found
        breaker.count(EnqueueVotes, "_vote_now")
        return Vote.PERMIT

    breaker.replace(EnqueueVotes, "_vote_now", as_soon_as_asked, always=False)


def refused_jobs(breaker: Breaker) -> None:
    """Where there is no room pods of Jobs are refused, as those of Deployments are."""
    policy_of = LedgerReader.policy_of

    def as_of_deployments(self: Any, facts: PodFacts, queue: str) -> Policy:
        if not facts.of_volcano_job:
            return policy_of(self, facts, queue)
        breaker.count(LedgerReader, "policy_of")
        return Policy.DENY

    breaker.replace(LedgerReader, "policy_of", as_of_deployments, always=False)
