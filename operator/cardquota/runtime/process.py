"""How the process is set up, and ends: its log, Python's garbage collector, its last seconds."""

import asyncio
import gc
import logging
import sys
from datetime import UTC, datetime
from time import thread_time
from typing import Final, NoReturn

import msgspec

from ..settings import Log

GRACE: Final = 4.0
"""Seconds for what is in flight at exit."""
_QUIET = ("kopf", "aiohttp", "asyncio")
"""Libraries whose messages below warnings are of no use."""


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Never fails on text from users: everything is encoded."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def configure(log: Log) -> None:
    """Set up logging to standard error for the whole process."""
    as_text = log.format == "text" or (log.format == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
        if as_text
        else _JsonFormatter()
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(log.level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    # It warns that it leaves the signals to us, which is intended.
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)


_YOUNG: Final = 10_000
"""Allocations less deallocations after which Python collects what is young: up to 5 ms. Its default
of 700 is used up by two reviews."""
_MIDDLE: Final = 2
"""Collections of the young after which what survived them is traversed too: up to 9 ms."""
_OLD: Final = 5_000
"""Of these, until all that is not frozen is traversed: after some minutes of nothing but work."""
_LOOKED_AFTER: Final = 0.1
_WORK: Final = 0.05
"""Seconds of work whose objects are collected at one time: about a millisecond."""


def spare_what_stays() -> None:
    """Freeze all present objects, so that no collection traverses them again (I5).

    Call it once the cluster was read: each traversal of it would hold up the loop for
    half a second. Then let `collect_young` run.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)


async def collect_young() -> NoReturn:
    """Collect what is young after each 50 ms of work, whatever Python counts, until cancelled.

    Python takes what is freed off what is new. So while records that were frozen are replaced by
    new ones, it collects nothing, and then 300,000 at once, which held up the loop for 200 ms.
    """
    since = thread_time()
    while True:
        await asyncio.sleep(_LOOKED_AFTER)
        if thread_time() - since >= _WORK:
            gc.collect(1)
            since = thread_time()
