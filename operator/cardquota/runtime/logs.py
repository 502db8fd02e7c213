"""The operator's log: text on a terminal, otherwise one JSON object per line."""

import logging
import sys
from datetime import UTC, datetime

import msgspec

from ..settings import Log

_QUIET = ("kopf", "aiohttp", "asyncio")
"""Libraries whose messages below warnings are of no use."""


class JsonFormatter(logging.Formatter):
    """One object per line: time, level, logger, message, and the traceback of an error."""

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
        else JsonFormatter()
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(log.level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    # It warns that it leaves the signals to us, which is intended.
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)
