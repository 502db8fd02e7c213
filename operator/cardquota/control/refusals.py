"""Those who wait at the gate are told why: an event per pod, and one per gang (section 9)."""

import asyncio
import logging
from collections.abc import Sequence
from hashlib import blake2b
from sys import intern
from typing import Final

from ..cluster.events import EventRecorder
from ..quota.group_book import GroupBook
from ..quota.judgement import judge_release
from ..quota.ledger import Ledger
from ..quota.pod_record import PodRecord
from ..quota.release_pass import Refusal
from ..quota.verdict import Outcome, Verdict
from ..quota.words import MOST_LISTED
from .references import group_reference, pod_reference

_LOG = logging.getLogger(__name__)
_LONGEST_TOPIC: Final = 128
"""Characters."""
_PATIENCE: Final = 10.0
"""Seconds after which a pod is told that its group, or members of it, do not come."""


class Refusals:
    """Tells refusals of the release. Belongs to the ledger's loop; awaits nothing."""

    def __init__(self, ledger: Ledger, events: EventRecorder) -> None:
        self._ledger = ledger
        self._events = events

    def tell(self, refusal: Refusal) -> None:
        """Events for those who wait, one per change of the reason (section 9)."""
        if refusal.verdict.outcome is Outcome.UNSEEN:
            # Groups and members arrive one after the other: worth a word only if they do not.
            asyncio.get_running_loop().call_later(_PATIENCE, self._tell_if_still, refusal)
            return
        self._record(refusal.verdict, refusal.pods, refusal.gang)

    def _tell_if_still(self, refusal: Refusal) -> None:
        """Some time has passed: who still waits is told how it stands now."""
        for record in refusal.pods:
            if self._ledger.pods.get(record.facts.uid) is record and record.releasable:
                verdict = judge_release(self._ledger, record)
                if verdict.outcome is Outcome.UNSEEN:
                    self._record(verdict, (record,), refusal.gang)

    def _record(self, verdict: Verdict, pods: Sequence[PodRecord], gang: GroupBook | None) -> None:
        if verdict.reason is None:
            return
        objects = [(pod_reference(record.facts), _topic(verdict, record)) for record in pods]
        if gang is not None and gang.facts is not None and pods:
            objects.append((group_reference(gang.facts), verdict.queue))
        for found, topic in objects:
            _LOG.info("%s/%s waits: %s", found.namespace, found.name, verdict.text)
            self._events.record(
                found,
                type="Warning",
                reason=verdict.reason,
                message=verdict.text,
                topic=intern(topic),
            )


def _topic(verdict: Verdict, record: PodRecord) -> str:
    """What is asked: who asks another queue, or for another card, has to hear another answer.

    It is remembered for every pod that was told, so a long one is told apart by its digest (P8).
    """
    request = record.request
    named = request.cards[:MOST_LISTED] if request and record.facts.card_text is not None else ()
    topic = " ".join((verdict.queue, *named))
    if len(topic) <= _LONGEST_TOPIC:
        return topic
    return blake2b(topic.encode(errors="replace"), digest_size=16).hexdigest()
