"""Writes of the leader that nothing waits for: outdated groups, and stamps that are wrong. A few at
a time, however many there are when a term begins.

A stamp says on a running pod what a later leader could not know.
- Which cards it holds, if it was bound to other cards than it was released for (E3). The ledger
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
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from itertools import chain
from typing import Any, Final

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.writes import FencedWriter, TooLateError, guard, pod_path, precondition
from ...quota import vocabulary as v
from ...quota.amounts import canonical
from ...quota.ledger.ledger import Ledger
from ...quota.stamp import allocated_text
from ...quota.words import logged
from .group_releases import GroupReleases
from .pacing import Retries

_LOG: Final = logging.getLogger(__name__)


class _Line:
    """Objects to be written: one write at a time of each, a few together. Memory: the objects that
    are to be written.
    """

    def __init__(
        self,
        write: Callable[[str], Awaitable[bool]],
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        at_a_time: int,
    ) -> None:
        """`write` returns whether nothing is left to do; else it is called again, after ever longer
        pauses.
        """
        self._write = write
        self._start = start
        self._wake = wake
        self._at_a_time = at_a_time
        self._due: OrderedDict[str, None] = OrderedDict()
        self._in_flight: dict[str, bool] = {}
        """Those that are being written, and whether they have changed since that began."""
        self.retries: Final = Retries[str](self._again)

    def add(self, key: str, *, first: bool = False) -> None:
        """It has changed. `first`: it goes before the others."""
        if key in self._in_flight:
            self._in_flight[key] = True
            return
        self._due[key] = None
        if first:
            self._due.move_to_end(key, last=False)

    def go_on(self) -> None:
        """Start some of the writes."""
        while self._due and len(self._in_flight) < self._at_a_time:
            key, _ = self._due.popitem(last=False)
            self._in_flight[key] = False
            self._start(self._run(key))

    def _again(self, key: str) -> None:
        self.add(key)
        self._wake()

    async def _run(self, key: str) -> None:
        try:
            done = await self._write(key)
        finally:
            if self._in_flight.pop(key):
                self._due[key] = None
        if done:
            self.retries.worked(key)
        else:
            self.retries.failed(key)


class BackgroundWrites:
    """The background writes of one term."""

    def __init__(
        self,
        ledger: Ledger,
        groups: GroupReleases,
        writer: FencedWriter,
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        *,
        term: str,
        at_a_time: int,
    ) -> None:
        """`groups` is told of each group that changed, within `go_on`, however long its write has
        to wait. `start`: run a task beside this one. `wake`: have `go_on` called; the caller must
        also call it when such a task has ended. `at_a_time`: writes of each of the two kinds.
        """
        self._ledger = ledger
        self._groups = groups
        self._writer = writer
        self._term = term
        self._group_line = _Line(groups.update, start, wake, at_a_time)
        self._stamp_line = _Line(self._correct, start, wake, at_a_time)

    def go_on(self) -> None:
        """Start some of the writes. Costs by these, and by what is new."""
        for key in self._ledger.dirty.groups.take():
            self._groups.look_at_end(key)
            self._group_line.add(key)
        self._group_line.go_on()
        for uid in self._ledger.dirty.incorrect.take():
            if uid not in self._stamp_line.retries:
                # First what is wrong: audit mode may note all pods.
                self._stamp_line.add(uid, first=uid in self._ledger.misplaced)
        self._stamp_line.go_on()

    def stop(self) -> Iterator[None]:
        """The term is over: no more retries. Iterate over the result, which forgets them."""
        return chain(self._group_line.retries.stop(), self._stamp_line.retries.stop())

    async def _correct(self, uid: str) -> bool:
        """Write what is missing or wrong on a pod; returns whether nothing is. It is looked at
        again in any case: a lost write is repeated, and so is one that another client reverted. A
        lost one may land later, which does no harm: it states what has been charged since.
        """
        ledger = self._ledger
        note: dict[str, str | None] = {}
        if uid not in ledger.misplaced and uid not in ledger.unnoted:
            return True
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
        return False
