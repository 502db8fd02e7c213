"""Whether Volcano may enqueue a group: the vote, and what it makes the leader do (V3, E1).

The first time that a group is asked about it gets a place in the order of its queue (E6), and the
leader reserves what it asks for once it is its turn. So a vote is only a look at what is reserved:
who asks most often gets nothing sooner.
"""

import time
from collections.abc import Callable
from typing import Final

from ..cluster.watch.delivery import ChangeNotifier
from ..loop.time_slice import TimeSlice
from ..quota.decisions.group_judgement import judge_enqueue
from ..quota.decisions.volcano import (
    EnqueueRequest,
    Vote,
    enqueue_request,
    vote_without_judgement,
)
from ..quota.ledger.groups.group_facts import GroupFacts
from ..quota.ledger.groups.pod_group_state import PodGroupState
from ..quota.ledger.ledger import Ledger
from ..quota.verdict import Verdict
from ..quota.vocabulary import GroupCondition
from .enqueue_wire import EnqueueAsk
from .job_requests import JobRequests
from .leader_client import LeaderVotes

UNSEEN: Final = 0.1
"""Seconds that a vote waits for a group that our watch has not told of."""
RESERVING: Final = 0.5
"""Seconds that the first vote on a group waits for its reservation to be written."""


Notify = Callable[[PodGroupState, Verdict], None]
"""Called where a group has to wait of which nothing can be reserved."""


class WaitBudget:
    """Waits of one kind. Together they take a tenth of the time, however many there are: Volcano's
    scheduler asks about one group after another, and a tenant may make thousands. It schedules
    nothing meanwhile.
    """

    def __init__(
        self, notifier: ChangeNotifier, seconds: float, clock: Callable[[], float]
    ) -> None:
        """`seconds`: the longest wait, and what may be spent at once. `clock`: seconds,
        monotonic.
        """
        self._notifier = notifier
        self._seconds = seconds
        self._clock = clock
        self._left = seconds
        self._counted_at = clock()

    async def wait_for(self, condition: Callable[[], bool]) -> bool:
        """Returns whether `condition` holds: as soon as it does, or when no time is left."""
        if condition():
            return True
        began = self._clock()
        self._left = min(self._seconds, self._left + SHARE * (began - self._counted_at))
        self._counted_at = began
        longest = self._left
        if longest < _LEAST * self._seconds:
            return False
        # Taken first: whoever asks many times at once shares it, too.
        self._left -= longest
        found = await self._notifier.wait_for(condition, longest)
        if found:
            self._left += max(0.0, longest - (self._clock() - began))
        return found


class EnqueueVotes:
    """Votes of this replica. Belongs to the ledger's loop; one term after the other.

    Guarantees: nothing is permitted for which nothing is reserved, but for groups that do not say
    which cards they will ask for. A vote takes one judgement at most, and RESERVING seconds; many
    in a row do not add up, as all others of Volcano's session wait for them: what is reserved
    meanwhile is permitted in the next one.
    """

    def __init__(
        self,
        ledger: Ledger,
        notifier: ChangeNotifier,
        leader: LeaderVotes,
        synced: Callable[[], bool],
        notify: Notify,
        jobs: JobRequests,
        *,
        unseen: float = UNSEEN,
        reserving: float = RESERVING,
    ) -> None:
        """`jobs`: what Jobs ask for. `unseen`, `reserving`: seconds."""
        self._ledger = ledger
        self._jobs = jobs
        self._notifier = notifier
        self._leader = leader
        self._synced = synced
        self._notify = notify
        self._unseen = WaitBudget(notifier, unseen, time.monotonic)
        self._reserving = WaitBudget(notifier, reserving, time.monotonic)
        self._leads = False

    # --- one term -----------------------------------------------------------------------------

    def begin(self, term: str) -> None:
        """Have what is asked about reserved from now on."""
        self._leads = True

    async def drain(self, timeout: float) -> bool:
        """Have nothing reserved any more. Returns whether all is settled, which it is at once."""
        self._leads = False
        return True

    async def end(self) -> None:
        """The term is over. The next leader is asked again within a second."""
        self._leads = False
        self._jobs.forget()
        slice_ = TimeSlice()
        groups = self._ledger.groups.items()
        for key in [key for key, group in groups if group.voted_on]:
            self._ledger.decisions.ask(key, None)
            self._ledger.decisions.note_vote(key, voted_on=False)
            await slice_.give_way()

    @property
    def all_seen(self) -> bool:
        """Nothing is decided here."""
        return True

    # --- one vote -----------------------------------------------------------------------------

    async def vote(self, ask: EnqueueAsk, *, passed_on: bool = False) -> Vote:
        """The vote on one group. `passed_on`: by another replica, so here or nowhere."""
        if not self._synced():
            return Vote.REJECT
        await self._unseen.wait_for(lambda: self._group(ask) is not None)
        group = self._group(ask)
        if group is None or group.facts is None:
            return Vote.REJECT  # it is not there any more, or will be seen before the next session
        if self._leads and not group.voted_on:
            self._ledger.decisions.note_vote(group.key, voted_on=True)
            self._notifier.notify()
        if not (self._leads or passed_on) and _was_notified(group.facts):
            return await self._leader.ask(ask)  # whose word that was, and who takes it back
        plain = vote_without_judgement(self._ledger, group)
        if plain is not None:
            self._reject(group, rejected=False)
            return plain
        found = enqueue_request(self._ledger, group.facts)
        if found is None:
            return Vote.ABSTAIN
        if self._leads:
            return await self._decide_on_job(ask, group.facts, found)
        return Vote.REJECT if passed_on else await self._leader.ask(ask)

    def _group(self, ask: EnqueueAsk) -> PodGroupState | None:
        """The group that is asked about; None: it was not seen, or only another of its name."""
        group = self._ledger.groups.get(ask.key)
        if group is None or group.facts is None:
            return None
        return group if ask.uid in ("", group.facts.uid) else None

    async def _decide_on_job(
        self, ask: EnqueueAsk, facts: GroupFacts, found: EnqueueRequest
    ) -> Vote:
        """With what its Job asks for, if it is of one: that may have to be read first."""
        jobs = self._jobs
        jobs.look(facts, found)
        await self._reserving.wait_for(lambda: not jobs.reads(ask.key))
        reading, group = jobs.of(facts, found), self._group(ask)
        if reading is None or group is None or group.facts is None or not self._leads:
            return Vote.REJECT
        if reading.request is None:
            return Vote.ABSTAIN
        return await self._decide(ask, group, reading.request)

    async def _decide(self, ask: EnqueueAsk, group: PodGroupState, found: EnqueueRequest) -> Vote:
        assert group.facts is not None  # noqa: S101 - for mypy
        if found.exact and group.asked == found.request:
            return Vote.REJECT  # it has its place, and nothing is reserved for it yet
        verdict = judge_enqueue(self._ledger, group.facts, found.request).verdict
        if not found.exact:
            self._reject(group, rejected=not verdict.fits)
            if not verdict.fits:
                self._notify(group, verdict)
            return Vote.PERMIT if verdict.fits else Vote.REJECT
        self._ledger.decisions.ask(ask.key, found.request)
        self._notifier.notify()
        if verdict.fits:
            await self._reserving.wait_for(lambda: self._vote_now(ask) is not Vote.REJECT)
        return self._vote_now(ask)

    def _reject(self, group: PodGroupState, *, rejected: bool) -> None:
        if group.rejected is not rejected:
            self._ledger.decisions.reject(group.key, rejected=rejected)
            self._notifier.notify()

    def _vote_now(self, ask: EnqueueAsk) -> Vote:
        group = self._group(ask)
        plain = vote_without_judgement(self._ledger, group) if group is not None else None
        return Vote.REJECT if plain is None else plain


def _was_notified(facts: GroupFacts) -> bool:
    """Whether the group's condition says that it waits for quota."""
    return facts.quota_condition.stored.type == GroupCondition.UNSCHEDULABLE


SHARE: Final = 0.1
"""Part of the time that may be spent waiting."""
_LEAST: Final = 0.1
"""Part of the longest wait that must be left for another one."""
