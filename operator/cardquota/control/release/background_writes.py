"""Writes of the leader that nothing waits for: outdated groups, and stamps that are wrong. A few at
a time, however many there are when a term begins.

A stamp says on a running pod what a later leader could not know.
- Which cards it holds, if it was bound to other cards than it was let through for (E3). The ledger
  has already moved its charge. For a pod that runs when first seen, only the stamp says what its
  node was (D8).
- That it came where nothing is enforced (I3): it gets the term, and no cards. Once its namespace is
  enforced, that cannot be seen any more.
- Where it is charged although it came past admission (I3): its group and namespace may name another
  queue by then. It gets the label by which the API server knows which pods to guard. What stood
  there as if it were a stamp was not ours, and goes.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from itertools import chain
from typing import Any

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.writes.fenced_writer import FencedWriter, TooLateError
from ...cluster.writes.pod_writes import guard, pod_path, precondition
from ...quota import vocabulary as v
from ...quota.amounts import canonical
from ...quota.ledger.ledger import Ledger
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.stamp import allocated_text
from ...quota.words import logged
from .group_releases import GroupReleases
from .retries import Retries


class StampWriter:
    """Corrects or completes the stamps of pods, under one term. One call per pod at a time.

    Not guaranteed: that a write lands. A lost write may land later, as long as nothing else is
    written on the pod. That does no harm: it states what has been charged since.
    """

    def __init__(self, ledger: LedgerReader, writer: FencedWriter, *, term: str) -> None:
        self._ledger = ledger
        self._writer = writer
        self._term = term

    async def correct(self, uid: str) -> None:
        """Write what is missing or wrong on a pod. The watch shows whether it worked."""
        ledger = self._ledger
        note: dict[str, str | None] = {}
        if uid not in ledger.misplaced and uid not in ledger.unnoted:
            return
        record = ledger.pods[uid]
        facts = record.facts
        if uid in ledger.misplaced:
            note[v.ALLOCATED] = allocated_text(canonical(record.on_node))
        else:
            if record.audited:
                note[v.TERM] = self._term
            if record.fixed is not None:
                note[v.CHARGED_QUEUE] = record.fixed
        if not facts.labelled:
            note = {**dict.fromkeys(v.STAMP), **note}
        body = {"metadata": {**precondition(facts), "annotations": note, **guard(facts)}}
        try:
            await self._writer.patch(pod_path(facts), body)
        except (ApiError, OutcomeUnknown, TooLateError) as error:
            moved = isinstance(error, ApiError) and error.moved
            level = logging.DEBUG if moved else logging.WARNING
            _LOG.log(level, "stamp of %s: %s", logged(facts.namespace, facts.name), error)


class BackgroundWrites:
    """The background writes of one term. One write at a time for each group and pod. Failed writes
    are retried after ever longer pauses. Memory: the groups, and the pods to be written.
    """

    def __init__(
        self,
        ledger: Ledger,
        groups: GroupReleases,
        writer: StampWriter,
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        *,
        at_a_time: int,
    ) -> None:
        """`groups` is told of each group that changed, within `go_on`, however long its write has
        to wait. `start`: run a task beside this one. `wake`: have `go_on` called; the caller must
        also call it when such a task has ended. `at_a_time`: writes of each of the two kinds.
        """
        self._ledger = ledger
        self._groups = groups
        self._writer = writer
        self._start = start
        self._wake = wake
        self._at_a_time = at_a_time
        self._groups_due: OrderedDict[str, None] = OrderedDict()
        """Groups to be brought up to date."""
        self._groups_in_flight: dict[str, bool] = {}
        """Groups that are being written, and whether they have changed since that began."""
        self._stamps_due: OrderedDict[str, None] = OrderedDict()
        """Uids of pods to be written, most urgent first."""
        self._stamps_in_flight: set[str] = set()
        """Uids of pods whose stamp is being written, or was written and may not be seen yet."""
        self._writing = 0
        """Number of stamps that are being written."""
        self._group_retries = Retries[str](groups.look_again)
        """By key of the group."""
        self._stamp_retries = Retries[str](self._see_stamp)
        """By uid of the pod."""

    @property
    def retrying(self) -> int:
        """Groups and pods on which a write is tried, or looked at, again later."""
        return len(self._group_retries) + len(self._stamp_retries)

    def go_on(self) -> None:
        """Start some of the writes. Costs by these, and by what is new."""
        for key in self._ledger.dirty.take_groups():
            self._groups.look_at_end(key)
            if key in self._groups_in_flight:
                self._groups_in_flight[key] = True
            else:
                self._groups_due[key] = None
        while self._groups_due and len(self._groups_in_flight) < self._at_a_time:
            key, _ = self._groups_due.popitem(last=False)
            self._groups_in_flight[key] = False
            self._start(self._write_group(key))
        for uid in self._ledger.dirty.take_incorrect():
            self._stamps_due[uid] = None
            if uid in self._ledger.misplaced:
                self._stamps_due.move_to_end(uid, last=False)  # audit mode may note all pods
        while self._stamps_due and self._writing < self._at_a_time:
            uid, _ = self._stamps_due.popitem(last=False)
            if self._is_wrong(uid) and uid not in self._stamps_in_flight:
                self._stamps_in_flight.add(uid)
                self._writing += 1
                self._start(self._write_stamp(uid))

    def stop(self) -> Iterator[None]:
        """The term is over: no more retries. Iterate over the result, which forgets what is
        remembered step by step.
        """
        return chain(self._group_retries.stop(), self._stamp_retries.stop())

    async def _write_group(self, key: str) -> None:
        try:
            done = await self._groups.update(key)
        finally:
            if self._groups_in_flight.pop(key):
                self._groups_due[key] = None
        if done:
            self._group_retries.worked(key)
        else:
            self._group_retries.failed(key)

    async def _write_stamp(self, uid: str) -> None:
        try:
            await self._writer.correct(uid)
        finally:
            self._writing -= 1
        # Checked again in any case, after ever longer pauses: a lost write is repeated, and so is
        # one that another client reverted.
        self._stamp_retries.failed(uid)

    def _is_wrong(self, uid: str) -> bool:
        ledger = self._ledger
        return uid in ledger.misplaced or uid in ledger.unnoted

    def _see_stamp(self, uid: str) -> None:
        self._stamps_in_flight.discard(uid)
        if self._is_wrong(uid):
            self._stamps_due[uid] = None
            self._wake()
        else:
            self._stamp_retries.worked(uid)


_LOG = logging.getLogger(__name__)
