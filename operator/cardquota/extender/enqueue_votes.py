"""Whether Volcano may enqueue a group: the vote, and what it makes the leader do (V3, E1).

The first time that a group is asked about it gets a place in the order of its queue (E6), and the
leader reserves what it asks for once it is its turn. So a vote is only a look at what is reserved:
who asks most often gets nothing sooner.

A group has the sum of resource names alone: which cards are meant stands on the pods of its Job's
tasks. So the Job is read once for each group, and again when the group or the quota of its queue
changes: the vote, the review of the Job and its pods have one reading (V3, V4).
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, NamedTuple

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.watch.delivery import ChangeNotifier
from ..loop.timing import TimeSlice
from ..quota.decisions.group_judgement import judge_enqueue
from ..quota.decisions.volcano import (
    EnqueueRequest,
    Vote,
    enqueue_request,
    has_too_many_tasks,
    request_of_job,
    vote_without_judgement,
)
from ..quota.ledger.groups.group_facts import GroupFacts, job_of
from ..quota.ledger.groups.pod_group_state import PodGroupState
from ..quota.ledger.ledger import Ledger
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.limits import KIB
from ..quota.objects.workload import WrittenVolcanoJob
from ..quota.steps import to_its_end
from ..quota.verdict import Verdict
from ..quota.vocabulary import GroupCondition
from ..quota.words import logged
from .enqueue_wire import EnqueueAsk
from .leader_client import LeaderVotes

_LOG: Final = logging.getLogger(__name__)
_DECODER: Final = msgspec.json.Decoder(WrittenVolcanoJob)
_LARGEST: Final = 512 * KIB
"""Bytes of a Job that is read."""
PATIENCE: Final = 2.0
"""Seconds that a read may take."""


class _JobReading(NamedTuple):
    version: Hashable
    request: EnqueueRequest | None
    """None: its pods ask for no cards."""


class JobRequests:
    """Belongs to the ledger's loop. At most one read of a group's Job is under way."""

    def __init__(
        self,
        ledger: LedgerReader,
        notifier: ChangeNotifier,
        read: Callable[[str], Awaitable[bytes]],
    ) -> None:
        """`read` gets an object by its path."""
        self._ledger = ledger
        self._notifier = notifier
        self._read = read
        self._found: dict[str, _JobReading] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    def of(self, facts: GroupFacts, found: EnqueueRequest) -> _JobReading | None:
        """What a group's Job asks for; None: it is not known yet. `found`: what the group says by
        itself, which counts for groups of no Job and for Jobs that may not be read.
        """
        if facts.request.cards or not job_of(facts.key):
            return _JobReading(None, found)
        known = self._found.get(facts.key)
        return known if known is not None and known.version == self._version(facts) else None

    def look(self, facts: GroupFacts, found: EnqueueRequest) -> None:
        """Begin to read a group's Job, unless it is known or being read."""
        if self.of(facts, found) is None and facts.key not in self._reading:
            look = self._look(facts, self._version(facts), found)
            self._reading[facts.key] = asyncio.get_running_loop().create_task(look)

    def reads(self, key: str) -> bool:
        """Whether the Job of this group is being read."""
        return key in self._reading

    def forget(self) -> None:
        """The term is over."""
        self._found.clear()
        for task in list(self._reading.values()):
            task.cancel()

    def _version(self, facts: GroupFacts) -> Hashable:
        account = self._ledger.account(facts.queue)
        mark = account.quota_mark if account is not None else None
        return facts.uid, facts.queue, facts.min_member, facts.request, mark

    async def _look(self, facts: GroupFacts, version: Hashable, found: EnqueueRequest) -> None:
        jobs = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{facts.namespace}/jobs"
        request: EnqueueRequest | None = found._replace(exact=False)
        try:
            async with asyncio.timeout(PATIENCE):
                body = await self._read(f"{jobs}/{job_of(facts.key).partition('/')[2]}")
            written = _DECODER.decode(body) if len(body) <= _LARGEST else None
            if written is not None and not has_too_many_tasks(written):
                request = to_its_end(request_of_job(self._ledger, written, facts, found))
        except ApiError as error:
            if not error.absent:
                return  # asked again in the next session
            _LOG.info("the Job of group %s is not read: %s", logged(facts.key), error)
        except (OutcomeUnknown, TimeoutError):
            return
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            _LOG.info("the Job of group %s cannot be read: %s", logged(facts.key), error)
        finally:
            del self._reading[facts.key]
            self._notifier.notify()
        groups = self._ledger.groups
        if len(self._found) > 2 * len(groups):
            self._found = {key: old for key, old in self._found.items() if key in groups}
        self._found[facts.key] = _JobReading(version, request)


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
