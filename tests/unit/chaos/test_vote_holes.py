"""What the votes of a replica are for (V3): without them Volcano makes pods that only wait."""

from builders import H200, a_group, a_node, a_queue
from builders.cluster import a_ledger
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import EnqueueAsk, EnqueueVotes
from cardquota.quota import Verdict
from cardquota.quota.decisions import Vote
from cardquota.quota.ledger.groups import PodGroupState
from chaos.breakages.breaker import Breaker
from chaos.breakages.broken import BREAKAGES


class NobodyElse:
    async def ask(self, ask: EnqueueAsk) -> Vote:
        raise AssertionError(ask)


def _nothing(group: PodGroupState, verdict: Verdict) -> None: ...


async def vote_on_what_has_no_room() -> Vote:
    group = a_group("train").in_queue("red").of(2).asking({H200: 2})
    ledger = a_ledger(
        a_node("a").with_cards(H200, 8),
        a_queue("red").with_quota({H200: 1}),
        group,
        enqueues=False,
    )
    votes = EnqueueVotes(ledger, ChangeNotifier(), NobodyElse(), lambda: True, _nothing)
    votes.begin("term")
    return await votes.vote(EnqueueAsk("team", "train"))


async def test_without_the_look_at_what_is_reserved_everybody_is_permitted() -> None:
    assert await vote_on_what_has_no_room() is Vote.REJECT
    with Breaker() as breaker:
        BREAKAGES["volcano-vote-unreserved"].apply(breaker)
        assert await vote_on_what_has_no_room() is Vote.PERMIT
        assert breaker.broke.keys() == set(breaker.labels)
