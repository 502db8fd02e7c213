"""What pods are judged by before they are created: what was seen of their objects, and claims.

Whoever applies several objects together wrote the others a moment ago. So a review waits a moment
for them before anything is refused because they are missing.

Claims of devices are let by that are no cards (P7). A claim, or its template, is read where a pod
would be refused for it. What is made of that name later the policy `resource-claims` judges.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import Final

from cardquota.loop.time_slice import ChangeNotifier
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.create_judgement import judge_create
from cardquota.quota.decisions.judgement import queue_on_its_way
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import request_messages
from cardquota.quota.objects.pod import PodSpec
from cardquota.quota.pods.pod_facts import PodFacts, named_claims, why_no_quota_counts
from cardquota.quota.verdict import Verdict
from cardquota.quota.vocabulary import NAMESPACE_ENFORCED, Reason
from cardquota.settings import Settings

Exists = Callable[[str], Awaitable[bool | None]]
"""Whether a queue of this name exists, whatever was seen. None: not known."""
LONGEST: Final = 1.0
"""Seconds that a review waits for one object."""
_PART: Final = 1 / 4
"""Of the API server's patience, at most: a review may wait for a group, a namespace and a queue."""


MOST_WAITING: Final = 16
"""Reviews that wait for groups at once: each asks at every change whether its group is there."""


class VisibilityWait:
    """Waits for objects to be seen, and judges pods then.

    Guarantees: a review waits at most a second for each object, and less than the API server waits
    for all of them. It does not wait for a queue that does not exist. Not guaranteed: that the
    object is seen then.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        notifier: ChangeNotifier,
        exists: Exists,
        *,
        longest: float | None = None,
    ) -> None:
        """`exists`: looks up a queue that was not seen. `longest`: seconds, instead of what is
        guaranteed.
        """
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._notifier = notifier
        self._exists = exists
        usual = min(LONGEST, settings.webhook.timeout_seconds * _PART)
        self._longest = usual if longest is None else longest
        self._for_groups = 0

    async def until(self, condition: Callable[[], bool]) -> bool:
        """Whether it holds, now or within the time."""
        return condition() or await self._notifier.wait_for(condition, self._longest)

    async def namespace(self, name: str) -> bool:
        """Whether the namespace was seen."""
        return await self.until(lambda: name in self._ledger.namespaces)

    async def queue(self, name: str) -> bool | None:
        """Whether the queue was seen. False: it does not exist. None: it may."""
        if not self._has(name) and await self._exists(name) is False:
            return False
        return await self.until(lambda: self._has(name)) or None

    async def group_of(self, facts: PodFacts) -> None:
        """Wait until the group of these pods was seen, or the time is over. At most 16 reviews wait
        so at once; all others are answered by what is known.
        """
        if not facts.group or self._has_group(facts) or self._for_groups >= MOST_WAITING:
            return
        self._for_groups += 1
        try:
            await self.until(lambda: self._has_group(facts))
        finally:
            self._for_groups -= 1

    async def judge(self, facts: PodFacts) -> Verdict:
        """The verdict as at create, once the pod's namespace and queue were seen, or the time is
        over. Nothing is refused because of a queue that exists and was not seen.
        """
        await self.until(lambda: not self.namespace_unknown(facts))
        verdict = self._verdict(facts)
        if not _of_unseen_queue(verdict):
            return verdict
        exists = await self._exists(verdict.queue)
        if exists is not False:
            await self.until(lambda: not _of_unseen_queue(self._verdict(facts)))
        again = self._verdict(facts)
        if exists and _of_unseen_queue(again) and again.queue == verdict.queue:
            return queue_on_its_way(again.queue)
        return again

    def namespace_unknown(self, facts: PodFacts) -> bool:
        """Whether the pod's namespace, which may have a queue and a mode, has not been seen.

        Then only a gate is a safe answer: the leader opens it by the rules of the namespace. Pods
        that do not use cards are treated the same in every namespace, and so are all in audit mode.
        """
        ledger = self._ledger
        return (
            facts.namespace not in ledger.namespaces
            and ledger.mode_in(facts.namespace) is v.Mode.ENFORCE
            and bool(
                facts.own_queue or facts.group or facts.claims_devices or ledger.uses_cards(facts)
            )
        )

    def _has(self, queue: str) -> bool:
        account = self._ledger.account(queue)
        return account is not None and account.facts is not None

    def _has_group(self, facts: PodFacts) -> bool:
        group = self._ledger.groups.get(facts.group)
        return group is not None and group.facts is not None

    def _verdict(self, facts: PodFacts) -> Verdict:
        return judge_create(self._ledger, facts, require_queue=self._require_queue)


def _of_unseen_queue(verdict: Verdict) -> bool:
    """Whether it names a queue that is missing, or that was created and not seen yet."""
    return verdict.reason is v.Reason.QUEUE_NOT_FOUND and bool(verdict.queue)


Classes = Callable[[str, str, str], Awaitable[Collection[str] | None]]
"""The DeviceClasses of a claim or template, by namespace, kind and name. None: it is not there.
Raises LookupError if that is not known."""
_MOST: Final = 8
"""Claims of one pod that are read."""


class CardlessClaims:
    """Tells claims of DeviceClasses without cards from all others."""

    def __init__(self, ledger: LedgerReader, settings: Settings, classes: Classes) -> None:
        self._ledger = ledger
        self._without_cards = frozenset(settings.device_classes_without_cards)
        self._classes = classes

    async def leave_out(self, spec: PodSpec, namespace: str) -> str:
        """Empty the claims of `spec` if none of them is of a card, where claims are refused.
        Otherwise why they stay, for `with_claims`; empty where nobody looked.
        """
        found = self._ledger.namespaces.get(namespace)
        if not spec.resource_claims or (found is not None and found.mode != NAMESPACE_ENFORCED):
            return ""
        claims = named_claims(spec)
        if len(claims) > _MOST:
            return request_messages.claims_not_read(len(claims), _MOST)
        for claim in claims:
            try:
                classes = await self._classes(namespace, claim.kind, claim.name)
            except LookupError as error:
                return request_messages.claim_not_read(*claim, str(error))
            why = why_no_quota_counts(claim, classes, self._without_cards)
            if why:
                return why
        spec.resource_claims = ()
        return ""


def with_claims(verdict: Verdict, why: str) -> Verdict:
    """The verdict, with why a claim is refused."""
    if not why or verdict.reason is not Reason.DEVICE_CLAIMED:
        return verdict
    return verdict._replace(text=request_messages.with_claim(verdict.text, why))
