"""Faults of cards that the driver reports while nobody asks: XIDs.

A thread waits for them, since the library has no other way to tell. It opens the library for
itself, so it may wait while others ask about cards.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Final, NamedTuple

import pynvml

_log = logging.getLogger(__name__)
_WAIT: Final = 1_000
"""Milliseconds of one wait."""
_AGAIN: Final = 10.0
"""Seconds until it is tried again to listen."""


class _Fault(NamedTuple):
    xid: int
    at: float


class XidWatch:
    """Knows which cards have reported a fault. May be asked from any thread."""

    def __init__(
        self,
        ignored: Collection[int],
        recovers_after: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`recovers_after`: seconds without another fault after which a card counts as usable."""
        self._ignored, self._recovers_after, self._clock = frozenset(ignored), recovers_after, clock
        self._faults: dict[str, _Fault] = {}
        """By UUID: the last one."""
        self.heard = Counter[int]()
        """How often each XID was reported, those that are ignored too."""

    def start(self) -> None:
        """Listen until the program ends."""
        threading.Thread(target=self._listen_always, name="xid", daemon=True).start()

    def problem(self, uuid: str) -> str:
        """Why no pod can use a card; empty: it has reported nothing, or not for a long time."""
        fault = self._faults.get(uuid)
        if fault is None or self._clock() - fault.at >= self._recovers_after:
            return ""
        return f"XID {fault.xid}"

    def report(self, uuid: str, xid: int) -> None:
        """The driver has reported a fault of a card."""
        self.heard[xid] += 1
        if xid in self._ignored:
            _log.info("card <%s>: XID %d is a fault of an application and is ignored", uuid, xid)
            return
        _log.warning("card <%s>: XID %d", uuid, xid)
        self._faults[uuid] = _Fault(xid, self._clock())

    def _listen_always(self) -> None:
        told = ""
        while True:
            try:
                self._listen()
            except pynvml.NVMLError as error:
                if str(error) != told:
                    told = str(error)
                    _log.warning("faults of cards (XIDs) are not heard: %s", told)
            time.sleep(_AGAIN)

    def _listen(self) -> None:
        """Until the library fails, as while the driver is replaced."""
        pynvml.nvmlInit()
        try:
            events = pynvml.nvmlEventSetCreate()
            wanted = pynvml.nvmlEventTypeXidCriticalError
            for index in range(pynvml.nvmlDeviceGetCount()):
                # One that is lost is no news about the others.
                with suppress(pynvml.NVMLError):
                    card = pynvml.nvmlDeviceGetHandleByIndex(index)
                    if pynvml.nvmlDeviceGetSupportedEventTypes(card) & wanted:
                        pynvml.nvmlDeviceRegisterEvents(card, wanted, events)
            while True:
                try:
                    found = pynvml.nvmlEventSetWait_v2(events, _WAIT)
                except pynvml.NVMLError_Timeout:
                    continue
                # One that has just been lost cannot be named: the next look finds it so.
                with suppress(pynvml.NVMLError):
                    self.report(pynvml.nvmlDeviceGetUUID(found.device), int(found.eventData))
        finally:
            pynvml.nvmlShutdown()
