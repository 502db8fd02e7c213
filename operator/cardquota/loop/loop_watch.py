"""Watches the event loop: the longest stretch as a metric, and its cause in the log."""

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final, NamedTuple

from ..metrics import Metrics
from .longest import Longest
from .place import place_of
from .stretch import BOUND, Cause, Stretch
from .timed_selector import LEAST, TimedSelector

_LOG = logging.getLogger(__name__)
_LOOK: Final = 0.025
"""Seconds between two looks of the watching thread: half the bound, so that it sees each stretch
above the bound."""
_LONG: Final = 0.02
"""Seconds after which the place of a running stretch is noted: it may exceed the bound."""
_QUIET: Final = 10.0
"""Seconds between two log lines, however many stretches exceed the bound."""
_COLLECTIONS: Final = 16
"""Number of garbage collections that are remembered."""


class _Seen(NamedTuple):
    """A look at a running stretch."""

    began: float
    place: str


def processor_time_of(thread: int) -> Callable[[], float] | None:
    """Returns a function that reads a thread's processor time, seconds; None if unsupported."""
    found = getattr(time, "pthread_getcpuclockid", None)
    if found is None:
        return None
    clock = found(thread)
    return lambda: time.clock_gettime(clock)


class LoopWatch:
    """Measures the loop of the thread that starts it, until it is stopped.

    Guarantees: every stretch of at least 1 ms is measured. One above the bound is counted by its
    cause, and logged, at most once in ten seconds. Costs two clock reads for each round of the
    loop, and 40 looks of another thread per second.
    Not guaranteed: that most of the time was spent at the logged place. It is where the loop's
    thread was at the last look, up to 25 ms before the end.
    """

    def __init__(
        self,
        selector: TimedSelector,
        metrics: Metrics,
        *,
        clock: Callable[[], float] = perf_counter,
        processor_time: Callable[[int], Callable[[], float] | None] = processor_time_of,
    ) -> None:
        """`selector`: the loop's own. `clock`: the clock that the selector uses. `processor_time`:
        returns what reads the processor time of a thread.
        """
        self._selector = selector
        self._clock = clock
        self._stalls = {cause: metrics.loop_stalls.labels(cause.value) for cause in Cause}
        self._longest = Longest()
        metrics.loop_seconds.set_function(lambda: self._longest.of_late(clock()))
        self._thread = 0
        self._processor_time = processor_time
        self._processor: Callable[[], float] = clock
        self._looked = (0.0, 0.0)
        """Time, and processor time of the loop's thread, at the last look before a stretch became
        long."""
        self._seen = _Seen(-1.0, "")
        self._collecting = 0.0
        self._collected: tuple[tuple[float, float], ...] = ()
        """The last collections that took a while: end time and seconds. Always replaced, never
        changed: a collection may run in any thread, while the loop reads this."""
        self._told_at = float("-inf")
        self._untold = 0
        self._stopped = False

    def start(self, *, threaded: bool = True) -> None:
        """Measure from now on. Call it in the loop. `threaded`: with the watching thread."""
        self._thread = threading.get_ident()
        self._processor = self._processor_time(self._thread) or self._clock
        self._looked = (self._clock(), self._processor())
        gc.callbacks.append(self.collection)
        self._selector.on_stretch = self._over
        if threaded:
            threading.Thread(target=self._run, name="loop-watch", daemon=True).start()

    def stop(self) -> None:
        """Stop measuring. May be called again."""
        self._stopped = True
        self._selector.on_stretch = lambda _: None
        if self.collection in gc.callbacks:
            gc.callbacks.remove(self.collection)

    def look(self) -> None:
        """Note where the loop is, if its stretch is long. For the watching thread."""
        now, began = self._clock(), self._selector.began
        if self._selector.waiting or now - began < _LONG:
            self._looked = (now, self._processor())
            return
        frames = sys._current_frames()  # noqa: SLF001 - documented; of CPython
        place = place_of(frames.get(self._thread))
        # The loop may have moved on meanwhile: then the place belongs to another stretch.
        if self._selector.began == began:
            self._seen = _Seen(began, place)

    def _run(self) -> None:
        while not self._stopped:
            self.look()
            time.sleep(_LOOK)  # waiting for an Event would cost more

    def _over(self, seconds: float) -> None:
        """A stretch has ended. Called in the loop."""
        now = self._clock()
        self._longest.add(now, seconds)
        if seconds < BOUND:
            return
        began = self._selector.began
        looked_at, ran = self._looked
        stretch = Stretch(
            seconds,
            collected=sum(s for end, s in self._collected if end > began),
            ran=min(1.0, (self._processor() - ran) / max(LEAST, now - looked_at)),
            place=self._seen.place if self._seen.began == began else "",
        )
        self._stalls[stretch.cause].inc()
        if now - self._told_at < _QUIET:
            self._untold += 1
            return
        more = f" ({self._untold} more since the last line)" if self._untold else ""
        self._told_at, self._untold = now, 0
        _LOG.warning("the event loop was held up for %s%s", stretch.text, more)

    def collection(self, phase: str, _: dict[str, Any]) -> None:
        """Python's garbage collector starts or stops, in any thread; all others wait. It calls
        this itself.
        """
        now = self._clock()
        if phase == "start":
            self._collecting = now
        elif now - self._collecting >= LEAST:
            before = self._collected[1 - _COLLECTIONS :]
            self._collected = (*before, (now, now - self._collecting))
