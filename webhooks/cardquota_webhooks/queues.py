"""Admission of queues: unreadable ones are refused at write (Q4, Q5), and queues in use cannot be
deleted (Q8).
"""

from collections import Counter
from collections.abc import Callable
from itertools import chain, islice
from typing import Final

import msgspec

from cardquota.install.webhook_objects import VALIDATE
from cardquota.loop.timing import in_slices
from cardquota.quota.accounts.queue_facts import QueueError, queue_facts
from cardquota.quota.decisions.queue_write import (
    NOTHING_OWED,
    OwedRows,
    check_queue,
    doubts_about,
    doubts_about_owed,
    doubts_about_rows,
    ignored_cards,
    not_deserved,
    owed_rows,
    suggestions,
)
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import queue_write_messages, report_messages
from cardquota.quota.objects.queue import Queue
from cardquota.quota.own_keys import KEYS_OF_QUEUES
from cardquota.quota.pods.pod_record import PodRecord
from cardquota.quota.vocabulary import API_GROUP
from cardquota.quota.words import MOST_LISTED

from .review import (
    UNREADABLE,
    AdmissionResponse,
    Request,
    ReviewError,
    Routes,
    decoded,
    deny,
    key_warnings,
    too_large,
    too_large_together,
)

_DECODER = msgspec.json.Decoder(Queue)


class QueueReviews:
    """Answers reviews of queues; a pure function of the request and the ledger's view."""

    def __init__(
        self,
        ledger: LedgerReader,
        *,
        beside_volcano: bool = False,
        known: Callable[[], bool] = lambda: True,
    ) -> None:
        """`beside_volcano`: whether Volcano has a webhook for queues, too. `known`: whether the
        cluster was read, recently enough to say what nodes do not have.
        """
        self._ledger = ledger
        self._beside_volcano = beside_volcano
        self._known = known
        self.routes: Final[Routes] = {(VALIDATE, API_GROUP, "queues"): self.validate}

    async def validate(self, request: Request) -> AdmissionResponse:
        """Refuse a queue that cannot be used, or a deletion while it is used."""
        if request.operation == "DELETE":
            text = await self._in_use(_deleted(request))
            return deny(text) if text else AdmissionResponse()
        large = too_large_together(request.object)
        if large:
            return deny(queue_write_messages.queue_refused(request.name, large))
        queue = _read(request.object)
        text = _wrong(queue, request.name) or self._too_much(queue, request.name)
        return deny(text) if text else AdmissionResponse(warnings=self._doubts(request, queue))

    def _too_much(self, queue: Queue, name: str) -> str:
        """Why no more can be kept of queues; empty if this one can."""
        name = queue.metadata.name or name
        found = self._ledger.kept_queues.too_much(name, "", queue_facts(queue).kept_size)
        if found is None:
            return ""
        text = report_messages.too_much_of_queues(*found)
        return queue_write_messages.queue_refused(name, text)

    def _doubts(self, request: Request, queue: Queue) -> tuple[str, ...]:
        less = not_deserved(queue) if self._beside_volcano else ()
        refused = (queue_write_messages.guarantee_not_deserved(less),) if less else ()
        # What is known of cards may be too old, or not read yet: then none was meant.
        meant = suggestions(self._ledger) if self._known() else _nothing_meant
        told = (*refused, *self._closed(queue), *self._ignored(queue), *doubts_about(queue, meant))
        if too_large(request):
            return told  # what is changed cannot be told
        changed = self._changed_rows(request, queue, meant)
        return (*told, *changed, *key_warnings(request, KEYS_OF_QUEUES))

    def _changed_rows(
        self, request: Request, queue: Queue, meant: Callable[[str], str]
    ) -> tuple[str, ...]:
        if not self._known():
            return ()
        name = queue.metadata.name or request.name
        before, rows = self._rows_before(request, name), owed_rows(queue)
        odd = doubts_about_rows(self._ledger, name, rows.quota, before.quota, meant=meant)
        return (*odd, *doubts_about_owed(self._ledger, name, rows, before))

    def _rows_before(self, request: Request, name: str) -> OwedRows:
        """As they were written; if the quota could not be read, the one in force (Q4)."""
        if request.operation != "UPDATE":
            return NOTHING_OWED
        try:
            return owed_rows(_DECODER.decode(request.old_object))
        except UNREADABLE:
            account = self._ledger.account(name)
            return OwedRows(account.quota) if account is not None else NOTHING_OWED

    def _closed(self, queue: Queue) -> tuple[str, ...]:
        named = queue.metadata.annotations and queue.metadata.annotations.namespaces
        required = self._ledger.settings.require_namespaces
        return (queue_write_messages.open_to_nobody(),) if required and not named else ()

    def _ignored(self, queue: Queue) -> tuple[str, ...]:
        found = ignored_cards(queue.spec, self._ledger.counts)
        if not found:
            return ()
        notes = queue.metadata.annotations
        has_quota = notes is not None and notes.quota is not None
        return (queue_write_messages.cards_ignored(found, has_quota=has_quota),)

    async def _in_use(self, name: str) -> str:
        """Why a queue cannot be deleted; empty if it can. Costs by its pods, in slices, by its
        groups, and by all of which only the name is kept.
        """
        ledger, users = self._ledger, Counter[str]()

        def count(record: PodRecord) -> None:
            users[f"{record.facts.namespace}/{record.facts.workload}"] += 1

        await in_slices(ledger.made_pods.each_of(name, count))
        unread = ledger.kept_pods.left_out_in(name), ledger.kept_groups.left_out_in(name)
        unread_pods, unread_groups = (
            [f"{one.namespace}/{one.name}" for one in kind] for kind in unread
        )
        pods = users.total() + len(unread_pods)
        groups = [*ledger.queue_groups.of(name), *unread_groups]
        if not pods and not groups:
            return ""
        # The group of a job may have the job's name.
        others = [key for key in groups if key not in users]
        others = [*unread_pods, *others]
        named = list(islice(chain(users, others), MOST_LISTED))
        more = len(users) + len(others) - len(named)
        return queue_write_messages.queue_in_use(name, pods, len(groups), named, more)


def _nothing_meant(_: str) -> str:
    return ""


def _deleted(request: Request) -> str:
    """The name of the deleted queue. Requests of a collection's deletion have no name."""
    if request.name:
        return request.name
    large = too_large_together(request.old_object)
    if large:
        raise ReviewError(large)
    return _read(request.old_object).metadata.name


def _read(encoded: msgspec.Raw) -> Queue:
    return decoded(_DECODER, encoded, "not a queue")


def _wrong(queue: Queue, name: str) -> str:
    try:
        check_queue(queue)
    except QueueError as error:
        return queue_write_messages.queue_refused(queue.metadata.name or name, str(error))
    return ""
