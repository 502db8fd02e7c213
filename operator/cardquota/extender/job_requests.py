"""What Volcano's Jobs ask for, read from the Jobs themselves where their pod groups do not say it.

A group has the sum of resource names alone: which cards are meant stands on the pods of the tasks.
So the Job is read once for each group, and again when the group or the quota of its queue changes:
the vote, the review of the Job and its pods have one reading (V3, V4).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, NamedTuple

import msgspec

from ..cluster.api.api_error import ApiError, OutcomeUnknown
from ..cluster.watch.delivery import ChangeNotifier
from ..quota.decisions.volcano import EnqueueRequest, has_too_many_tasks, request_of_job
from ..quota.ledger.groups.group_facts import GroupFacts, job_of
from ..quota.ledger.ledger_reader import LedgerReader
from ..quota.limits import KIB
from ..quota.objects.workload import WrittenVolcanoJob
from ..quota.steps import to_its_end
from ..quota.words import logged

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
