"""Waits a moment for new objects to be seen before a pod is refused."""

from collections.abc import Awaitable, Callable

from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.create_judgement import judge_create
from cardquota.quota.decisions.judgement import queue_on_its_way
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.quota.verdict import Verdict
from cardquota.settings import Settings

Exists = Callable[[str], Awaitable[bool | None]]
"""Whether a queue of this name exists, whatever was seen. None: not known."""


class VisibilityWait:
    """Judges pods as at create, up to `webhook.unseenWait` seconds later per unseen object.

    A review does not wait for a missing queue, and refuses nothing because of an unseen queue.
    """

    def __init__(
        self, ledger: LedgerReader, settings: Settings, notifier: ChangeNotifier, exists: Exists
    ) -> None:
        self._ledger = ledger
        self._settings = settings
        self._notifier = notifier
        self._exists = exists

    def at_once(self, facts: PodFacts) -> Verdict | None:
        """The verdict, if there is nothing to wait for."""
        if self.namespace_unknown(facts):
            return None
        verdict = self._verdict(facts)
        return None if _of_unseen_queue(verdict) else verdict

    async def judge(self, facts: PodFacts) -> Verdict:
        """The verdict, once the pod's namespace and queue were seen, or the time is over."""
        wait = self._settings.webhook.unseen_wait
        await self._notifier.wait_for(lambda: not self.namespace_unknown(facts), wait)
        verdict = self._verdict(facts)
        if not _of_unseen_queue(verdict):
            return verdict
        exists = await self._exists(verdict.queue)
        if exists is not False:
            await self._notifier.wait_for(lambda: not _of_unseen_queue(self._verdict(facts)), wait)
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

    def _verdict(self, facts: PodFacts) -> Verdict:
        return judge_create(self._ledger, facts, require_queue=self._settings.require_queue)


def _of_unseen_queue(verdict: Verdict) -> bool:
    """Whether it names a queue that is missing, or that was created and not seen yet."""
    return verdict.reason is v.Reason.QUEUE_NOT_FOUND and bool(verdict.queue)
