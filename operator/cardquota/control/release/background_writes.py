"""What the leader writes and nobody waits for: groups that are not up to date, stamps that are not
right. A few at a time, however many there are when a term begins.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from itertools import chain
from typing import Any

from ...quota.ledger.ledger import Ledger
from .retries import Retries
from .stamp_writer import StampWriter


class BackgroundWrites:
    """Of one term. One write at a time for each group and each pod; what failed is tried again,
    later each time. Memory: the groups, and the pods on which something is to be written.
    """

    def __init__(
        self,
        ledger: Ledger,
        update_group: Callable[[str], Awaitable[bool]],
        writer: StampWriter,
        *,
        at_a_time: int,
        start: Callable[[Coroutine[Any, Any, None]], object],
        wake: Callable[[], None],
        first: float,
        cap: float,
    ) -> None:
        """`update_group` brings a group up to date, and says whether there is nothing left to do.

        `at_a_time`: writes of each of the two kinds. `start`: have something done beside this;
        `wake`: have `go_on` called, also to be called when something started has ended. `first` and
        `cap`: seconds before the first and between later tries.
        """
        self._ledger = ledger
        self._update_group = update_group
        self._writer = writer
        self._at_a_time = at_a_time
        self._start = start
        self._wake = wake
        self._groups_due: OrderedDict[str, None] = OrderedDict()
        """Groups that are to be brought up to date."""
        self._groups_in_flight: dict[str, bool] = {}
        """Groups that are being brought up to date, and whether they changed since that began."""
        self._stamps_due: OrderedDict[str, None] = OrderedDict()
        """Uids of pods on which something is to be written, most urgent first."""
        self._stamps_in_flight: set[str] = set()
        """Uids of pods whose stamp is being written, or was so lately that it may not be seen."""
        self._writing = 0
        """Stamps that are being written."""
        self._group_retries = Retries[str](self.look_again, first=first, cap=cap)
        """Groups by key."""
        self._stamp_retries = Retries[str](self._see_stamp, first=first, cap=cap)
        """Pods by uid."""

    def go_on(self) -> None:
        """Begin with some of what is to be done. Costs by those, and by what is new."""
        for key in self._ledger.dirty.take_groups():
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
                self._stamps_due.move_to_end(uid, last=False)  # of audit mode it may be all pods
        while self._stamps_due and self._writing < self._at_a_time:
            uid, _ = self._stamps_due.popitem(last=False)
            if self._is_wrong(uid) and uid not in self._stamps_in_flight:
                self._stamps_in_flight.add(uid)
                self._writing += 1
                self._start(self._write_stamp(uid))

    def stop(self) -> Iterator[None]:
        """The term is over: nothing is tried again any more, from now on. What is returned is to be
        iterated over: what is remembered is forgotten step by step.
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
        """Have a group brought up to date, though nothing was heard of it."""
        self._ledger.dirty.mark_group(key)
        self._wake()

    async def _write_stamp(self, uid: str) -> None:
        try:
            await self._writer.correct(uid)
        finally:
            self._writing -= 1
        # Looked at again in any case, later each time: what was lost is written again, and so is
        # what somebody else took back.
        self._stamp_retries.failed(uid)

    def _is_wrong(self, uid: str) -> bool:
        return uid in self._ledger.misplaced or uid in self._ledger.unnoted

    def _see_stamp(self, uid: str) -> None:
        self._stamps_in_flight.discard(uid)
        if self._is_wrong(uid):
            self._stamps_due[uid] = None
            self._wake()
        else:
            self._stamp_retries.worked(uid)
