"""Ways through the leader that a run must have gone: inputs that reach none of it show nothing."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final
from unittest.mock import patch

from cardquota.control.release.gang_start import GangStart
from cardquota.control.release.gate import GateOpener
from cardquota.control.release.gate_releaser import GateReleaser
from cardquota.control.release.pod_group_writer import PodGroupWriter

PATHS: Final = (
    (GateOpener, "open"),
    (GateOpener, "would_open"),
    (GateOpener, "settle"),
    (GangStart, "run"),
    (GangStart, "_open"),
    (GangStart, "_take_back"),
    (PodGroupWriter, "reserve"),
    (PodGroupWriter, "update"),
    (GateReleaser, "_expired"),
)


@contextmanager
def count_paths() -> Iterator[Counter[str]]:
    """How often each is gone, by its name; those that are not gone are there with 0."""
    counts = Counter({_name(*path): 0 for path in PATHS})
    patches = [patch.object(*path, new=_counting(counts, *path)) for path in PATHS]
    try:
        for one in patches:
            one.start()
        yield counts
    finally:
        for one in patches:
            one.stop()


def _name(owner: type, name: str) -> str:
    return f"{owner.__name__}.{name.lstrip('_')}"


def _counting(counts: Counter[str], owner: type, name: str) -> Callable[..., Any]:
    original = getattr(owner, name)

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        counts[_name(owner, name)] += 1
        return original(*args, **kwargs)

    return call
