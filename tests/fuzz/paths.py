"""Ways through the leader, and to answers, that a run must have gone: inputs that reach none of it
show nothing.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final
from unittest.mock import patch

from cardquota.control.release import GangReports, GangStart, GateOpener, PodGroupWriter
from cardquota.quota.ledger import ReleaseDecisions
from cardquota_webhooks import Questions

PATHS: Final = (
    (GateOpener, "open"),
    (GateOpener, "would_open"),
    (GateOpener, "settle"),
    (GangStart, "run"),
    (GangReports, "not_started"),
    (GangReports, "enqueued"),
    (PodGroupWriter, "reserve"),
    (PodGroupWriter, "update"),
    (ReleaseDecisions, "lose_place"),
    (ReleaseDecisions, "enqueue"),
    (Questions, "answered"),
)
RESERVED: Final = "a reservation that was written"
"""After which the gates of a gang are opened."""


@contextmanager
def count_paths() -> Iterator[Counter[str]]:
    """How often each is gone, by its name; those that are not gone are there with 0."""
    counts = Counter({RESERVED: 0, **{_name(*path): 0 for path in PATHS}})
    patches = [patch.object(*path, new=_counting(counts, *path)) for path in PATHS]
    try:
        for one in patches:
            one.start()
        yield counts
    finally:
        for one in patches:
            one.stop()


def _name(owner: type, name: str) -> str:
    return f"{owner.__name__}.{name}"


def _counting(counts: Counter[str], owner: type, name: str) -> Callable[..., Any]:
    original = getattr(owner, name)

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        counts[_name(owner, name)] += 1
        found = original(*args, **kwargs)
        return _counting_reserved(counts, found) if name == "reserve" else found

    return call


async def _counting_reserved(counts: Counter[str], reserving: Awaitable[bool]) -> bool:
    reserved = await reserving
    counts[RESERVED] += reserved
    return reserved
