"""Writes of the leader that nothing waits for: outdated groups, and stamps that are wrong. A few at
a time, however many there are when a term begins.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from itertools import chain
from typing import Any

from ...quota.ledger.ledger import Ledger
from .retries import Retries
from .stamp_writer import StampWriter


class BackgroundWrites:
    """The background writes of one term. One write at a time for each group and pod. Failed writes
    are retried after ever longer pauses. Memory: the groups, and the pods to be written.
    """

    def __init__(
        self,
        ledger: Ledger,
        update_group: Callable[[str], Awaitable[bool]],
        writer: StampWriter,
        *,
        at_a_time: int,
        changed: Callable[[str], None],
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        first: float,
        cap: float,
    ) -> None:
        """`update_group` brings a group up to date, and returns whether nothing is left to do.

        `at_a_time`: writes of each of the two kinds. `changed`: is called with each group that
        changed, within `go_on`, however long its write has to wait. `start`: run a task beside
        this one. `wake`: have `go_on` called; the caller must also call it when such a task has
        ended. `first` and `cap`: seconds before the first retry and, at most, between later ones.
        """
        self._ledger = ledger
        self._update_group = update_group
        self._writer = writer
        self._at_a_time = at_a_time
        self._changed = changed
        self._start = start
        self._wake = wake
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
        self._group_retries = Retries[str](self.look_again, first=first, cap=cap)
        """By key of the group."""
        self._stamp_retries = Retries[str](self._see_stamp, first=first, cap=cap)
        """By uid of the pod."""

    @property
    def retrying(self) -> int:
        """Groups and pods on which a write is tried, or looked at, again later."""
        return len(self._group_retries) + len(self._stamp_retries)

    def go_on(self) -> None:
        """Start some of the writes. Costs by these, and by what is new."""
        for key in self._ledger.dirty.take_groups():
            self._changed(key)
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
            done = await self._update_group(key)
        finally:
            if self._groups_in_flight.pop(key):
                self._groups_due[key] = None
        if done:
            self._group_retries.worked(key)
        else:
            self._group_retries.failed(key)

    def look_again(self, key: str) -> None:
        """Have a group brought up to date although nothing new was seen of it."""
        self._ledger.dirty.mark_group(key)
        self._wake()

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
