"""V3: votes on groups, over a ledger whose reservations are written by the test."""

import asyncio

import pytest

from builders import H200, H800, Body, a_group, a_namespace, a_node, a_queue, see
from builders.cluster import a_ledger
from cardquota.cluster.api import ApiError
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import EnqueueAsk, EnqueueVotes, JobRequests
from cardquota.quota import Verdict
from cardquota.quota.decisions import Vote
from cardquota.quota.ledger.groups import QUOTA_CONDITION, PodGroupState

NODES = a_node("a").with_cards(H200, 8), a_node("b").with_cards(H800, 8)
QUEUE = a_queue("red").with_quota({H200: 3})
GROUP = a_group("train").in_queue("red").of(2)
ASKS = GROUP.asking({H200: 2})
ASK = EnqueueAsk("team", "train")


class FixedLeader:
    """Another replica, which leads and votes as it is told."""

    def __init__(self, vote: Vote = Vote.PERMIT) -> None:
        self.says = vote
        self.asked: list[EnqueueAsk] = []

    async def ask(self, ask: EnqueueAsk) -> Vote:
        self.asked.append(ask)
        return self.says


async def no_job(path: str) -> bytes:
    raise ApiError(404, "NotFound", path)


class VotingReplica:
    """One replica's votes."""

    def __init__(self, *things: Body, leads: bool = True, synced: bool = True) -> None:
        self.ledger = a_ledger(*NODES, *things, enqueues=False)
        self.notifier = ChangeNotifier()
        self.leader = FixedLeader()
        self.told: list[tuple[str, str]] = []
        self.votes = EnqueueVotes(
            self.ledger,
            self.notifier,
            self.leader,  # type: ignore[arg-type]
            lambda: synced,
            self._tell,
            JobRequests(self.ledger, self.notifier, no_job),
            unseen=0.01,
            reserving=0.05,
        )
        if leads:
            self.votes.begin("term")

    def _tell(self, group: PodGroupState, verdict: Verdict) -> None:
        self.told.append((group.key, verdict.text))

    async def vote(self, ask: EnqueueAsk = ASK, *, passed_on: bool = False) -> Vote:
        return await self.votes.vote(ask, passed_on=passed_on)

    def waits(self) -> bool:
        return self.ledger.groups["team/train"].waits

    def write_when_asked(self) -> None:
        """The leader reserves what is asked about, as soon as it hears of it."""

        def reserve() -> None:
            state = self.ledger.groups["team/train"]
            if state.asks is not None and state.reservation is None:
                found = self.ledger.decisions.enqueue("team/train", "red", "term", ((H200, 2),))
                asyncio.get_running_loop().call_soon(
                    lambda: self.ledger.decisions.confirm_reservation("team/train", found, 200)
                )
                asyncio.get_running_loop().call_soon(self.notifier.notify)

        self.notifier.listen(reserve)


async def test_what_fits_is_permitted_once_it_is_reserved() -> None:
    replica = VotingReplica(QUEUE, ASKS)
    replica.write_when_asked()
    assert await replica.vote() is Vote.PERMIT
    account = replica.ledger.account("red")
    assert account is not None
    assert account.row(H200).inqueue == 2


async def test_what_is_reserved_for_another_group_of_its_name_permits_nothing() -> None:
    """A Job that is restarted has a new group of the same name, which we may not have seen yet."""
    replica = VotingReplica(QUEUE, ASKS)
    replica.write_when_asked()
    uid = ASKS.uid
    assert await replica.vote(ASK._replace(uid=uid)) is Vote.PERMIT
    assert await replica.vote(ASK._replace(uid="new")) is Vote.REJECT
    assert await replica.vote(ASK._replace(uid="new"), passed_on=True) is Vote.REJECT


async def test_what_fits_and_is_not_reserved_in_time_waits_for_the_next_question() -> None:
    replica = VotingReplica(QUEUE, ASKS)
    assert await replica.vote() is Vote.REJECT
    assert replica.ledger.groups["team/train"].asks is not None


@pytest.mark.fake_clock
async def test_the_next_question_waits_for_nothing() -> None:
    replica = VotingReplica(QUEUE, ASKS)
    await replica.vote()
    began = asyncio.get_running_loop().time()
    assert await replica.vote() is Vote.REJECT
    assert asyncio.get_running_loop().time() == began


@pytest.mark.fake_clock
async def test_many_whose_turn_does_not_come_hold_up_volcano_no_longer_than_one() -> None:
    """It asks about one after the other, and schedules nothing meanwhile."""
    many = [a_group(f"g{number}").in_queue("red").of(2).asking({H200: 2}) for number in range(50)]
    replica = VotingReplica(QUEUE, *many)
    began = asyncio.get_running_loop().time()
    for number in range(50):
        assert await replica.vote(EnqueueAsk("team", f"g{number}")) is Vote.REJECT
        assert await replica.vote(EnqueueAsk("team", f"not-there-{number}")) is Vote.REJECT
    assert asyncio.get_running_loop().time() - began < 0.5
    assert all(replica.ledger.groups[f"team/g{number}"].asks for number in range(50))


async def test_what_does_not_fit_is_rejected_at_once_and_keeps_its_place() -> None:
    replica = VotingReplica(QUEUE.with_quota({H200: 1}), ASKS)
    assert await replica.vote() is Vote.REJECT
    assert replica.ledger.groups["team/train"].asked is not None
    assert replica.told == []  # the order tells it, with its place


async def test_of_which_nothing_can_be_reserved_it_is_told_why_it_waits() -> None:
    several = QUEUE.with_quota({H200: 1, H800: 1})
    large = GROUP.needing({"nvidia.com/gpu": 3})
    replica = VotingReplica(several, large)
    assert await replica.vote() is Vote.REJECT
    ((key, text),) = replica.told
    assert key == "team/train"
    assert "requested <3>" in text
    assert replica.ledger.groups["team/train"].asked is None
    assert replica.waits()
    see(replica.ledger, several.with_quota({H200: 2, H800: 1}))
    assert await replica.vote() is Vote.PERMIT
    assert not replica.waits()
    see(replica.ledger, several)
    assert await replica.vote() is Vote.REJECT
    see(replica.ledger, GROUP.needing({"nvidia.com/gpu": 2}).at_revision(300))
    assert not replica.waits()
    assert await replica.vote() is Vote.PERMIT


@pytest.mark.parametrize("how", ["not enforced", "end"])
async def test_nor_does_it_wait_for_us_where_that_is_over(how: str) -> None:
    several = QUEUE.with_quota({H200: 1, H800: 1})
    replica = VotingReplica(several, GROUP.needing({"nvidia.com/gpu": 3}))
    assert await replica.vote() is Vote.REJECT
    if how == "end":
        await replica.votes.end()
    else:
        see(replica.ledger, a_namespace("team").in_mode("audit"))
        assert await replica.vote() is Vote.ABSTAIN
    assert not replica.waits()


async def test_who_does_not_lead_passes_it_on_once() -> None:
    replica = VotingReplica(QUEUE, ASKS, leads=False)
    assert await replica.vote() is Vote.PERMIT
    assert replica.leader.asked == [ASK]
    assert await replica.vote(passed_on=True) is Vote.REJECT
    assert len(replica.leader.asked) == 1


async def test_what_is_reserved_every_replica_knows() -> None:
    replica = VotingReplica(QUEUE, ASKS.enqueued("red", {H200: 2}), leads=False)
    assert await replica.vote() is Vote.PERMIT
    assert replica.leader.asked == []


async def test_of_what_was_never_seen_nothing_is_permitted() -> None:
    replica = VotingReplica(QUEUE)
    assert await replica.vote() is Vote.REJECT
    early = VotingReplica(QUEUE, ASKS.enqueued("red", {H200: 2}), synced=False)
    assert await early.vote() is Vote.REJECT


async def test_a_group_that_comes_a_moment_later_is_waited_for() -> None:
    replica = VotingReplica(QUEUE)
    loop = asyncio.get_running_loop()

    def come() -> None:
        see(replica.ledger, ASKS.enqueued("red", {H200: 2}))
        replica.notifier.notify()

    loop.call_soon(come)
    assert await replica.vote() is Vote.PERMIT


async def test_a_group_that_goes_while_it_is_judged_is_rejected() -> None:
    replica = VotingReplica(QUEUE, ASKS)
    asyncio.get_running_loop().call_soon(replica.ledger.group_gone, "team/train")
    assert await replica.vote() is Vote.REJECT


@pytest.mark.parametrize("how", ["end", "drain"])
async def test_when_the_term_is_over_nothing_more_is_asked_for(how: str) -> None:
    replica = VotingReplica(QUEUE, ASKS)
    await replica.vote()
    if how == "end":
        await replica.votes.end()
        assert replica.ledger.groups["team/train"].asks is None
    else:
        assert await replica.votes.drain(1.0)
        assert replica.votes.all_seen
    assert await replica.vote() is Vote.PERMIT  # the next leader's
    assert replica.leader.asked == [ASK]


async def test_who_does_not_lead_passes_on_what_the_leader_has_told_whatever_he_knows() -> None:
    """The leader takes its condition back once it hears of a question."""
    told = {"type": QUOTA_CONDITION, "status": "True", "reason": "InsufficientCardQuota"}
    group = GROUP.put([told], "status", "conditions")
    replica = VotingReplica(QUEUE, group, leads=False)
    replica.leader.says = Vote.ABSTAIN
    assert await replica.vote() is Vote.ABSTAIN
    assert replica.leader.asked == [ASK]
    assert await replica.vote(passed_on=True) is Vote.ABSTAIN
    assert replica.leader.asked == [ASK]
    leader = VotingReplica(QUEUE, group)
    assert await leader.vote() is Vote.ABSTAIN
    assert leader.ledger.groups["team/train"].voted_on
    await leader.votes.end()
    assert not leader.ledger.groups["team/train"].voted_on
