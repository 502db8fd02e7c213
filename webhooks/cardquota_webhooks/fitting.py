"""How many pods of a workload fit, and why not more: for whoever writes it, or its Scale.

Advice from the present view: each pod gets its own answer when it is created.
"""

import asyncio
from typing import Final, NamedTuple

from cardquota.loop.timing import in_slices
from cardquota.quota.accounts.account import AccountReader
from cardquota.quota.amounts import NO_AMOUNTS, Amounts, add_amounts
from cardquota.quota.decisions.create_judgement import judge_create
from cardquota.quota.decisions.judgement import judge_new
from cardquota.quota.decisions.queue_room import QueueRoom
from cardquota.quota.ledger.groups.pod_group_state import PodGroupState
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import shortfall_messages
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.quota.pods.queue_pods import WorkloadUsage
from cardquota.quota.steps import to_its_end
from cardquota.quota.verdict import Effect, Verdict, effect_of
from cardquota.settings import Settings

from .workload_objects import Makers

COUNT_TIMEOUT: Final = 1.0
"""Seconds to count the pods of a workload. A write waits no longer for advice; after that there is
none."""
FEW: Final = 2_000
"""Pods of a queue in one namespace that are counted at once: a few milliseconds."""


class Fitting(NamedTuple):
    """What a workload may have."""

    pods: int
    """Of those that it wants."""
    together: int
    """So many members of its gang have to start at once, and have no room; 1: each goes alone."""
    extra: Amounts
    """What all that fit take, and other pods on their way."""


class WorkloadRoom:
    """Counts what pods of a workload hold, and how many more would fit. It charges nothing.

    Where there are many pods, one count at a time, so that these do not hold up other work; where
    there are few, at once, so that nobody waits for who has many.
    """

    def __init__(self, ledger: LedgerReader, settings: Settings) -> None:
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._counting = asyncio.Lock()

    async def held_by(
        self, queue: str, namespace: str, makers: Makers, template: PodFacts | None = None
    ) -> WorkloadUsage | None:
        """What the pods of these controllers hold that are charged to the queue. `template`: see
        `WorkloadUsage`. None if counting takes too long.
        """
        usage, pods = WorkloadUsage(template), self._ledger.made_pods
        if pods.number_in(queue, namespace) <= FEW:
            for kind, named in makers.items():
                to_its_end(pods.each(queue, namespace, kind, named, usage.add))
            return usage
        try:
            async with asyncio.timeout(COUNT_TIMEOUT), self._counting:
                for kind, named in makers.items():
                    await in_slices(pods.each(queue, namespace, kind, named, usage.add))
        except TimeoutError:
            return None
        return usage

    def fitting(
        self,
        account: AccountReader,
        facts: PodFacts,
        wanted: int,
        kept: int,
        way: Amounts,
        given_back: Amounts = NO_AMOUNTS,
    ) -> Fitting:
        """How many of the `wanted` pods fit. `kept`: those of them that hold their quota already.
        `way`: what other pods on their way take. `given_back`: what its other pods hold until these
        are there.
        """
        group = self.group_of(facts)
        # How many members the gang of these pods, if any, still needs to start.
        missing = max(0, group.missing) if group is not None and group.gang else 0
        room = QueueRoom(account, group, way)
        add_amounts(room.extra, ((d, -amount) for d, amount in given_back.items()))
        request = self._ledger.request_of(facts, account.name)
        more = room.take(request, max(1, wanted - kept, missing))
        # If the minimum of a gang has no room, none of its pods starts.
        together = missing if more < missing else 1
        fits = kept if more < missing else kept + more
        return Fitting(min(wanted, fits), together, room.extra)

    def group_of(self, facts: PodFacts) -> PodGroupState | None:
        """The group of its pods, once it was seen."""
        group = self._ledger.groups.get(facts.group) if facts.group else None
        return group if group is not None and group.facts is not None else None

    def judged(self, facts: PodFacts) -> Verdict:
        """The verdict on the next pod, as at create."""
        return judge_create(self._ledger, facts, require_queue=self._require_queue)

    def judged_beside(self, facts: PodFacts, extra: Amounts, *, may_borrow: bool = True) -> Verdict:
        """The verdict on a pod beside these amounts."""
        return judge_new(
            self._ledger,
            facts,
            require_queue=self._require_queue,
            extra=extra,
            may_borrow=may_borrow,
        )

    def effect(self, facts: PodFacts, verdict: Verdict) -> Effect:
        """What becomes of such a pod."""
        policy = self._ledger.policy_of(facts, verdict.queue)
        return effect_of(verdict.outcome, policy, self._ledger.mode_in(facts.namespace))


def told(effect: Effect, *texts: str) -> tuple[str, ...]:
    """Warnings without the empty ones; in audit mode worded as for pods."""
    said = tuple(text for text in texts if text)
    match effect:
        case Effect.ALLOW:
            return ()
        case Effect.WARN:
            return tuple(map(shortfall_messages.audited, said))
    return said


def told_partly(effect: Effect, name: str, asked: int, fits: int, why: str) -> tuple[str, ...]:
    """Warnings on a workload of which not all pods fit. `effect`: on those that do not."""
    if effect is Effect.WARN:
        return told(effect, shortfall_messages.partly_audited(name, asked, fits), why)
    waits = effect is Effect.GATE
    return told(effect, shortfall_messages.partly_fits(name, asked, fits, waits=waits), why)
