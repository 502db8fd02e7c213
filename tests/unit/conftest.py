"""How hard the unit tests search, and which of them have a fake clock.

By default the examples are the same each time, so that a run fails for a change and never by luck.
`HYPOTHESIS_PROFILE=thorough` searches anew, a hundred times as many.
"""

import asyncio
import os
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, settings

from harness.fake_clock_loop import FakeClockLoop

_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _COMMON, max_examples=50, derandomize=True)
settings.register_profile("thorough", _COMMON, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A search takes as long as its profile says."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.slow)


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop of an asynchronous test: one with a fake clock, if the test is marked so."""
    if item.get_closest_marker("fake_clock") is not None:
        return {"fake clock": FakeClockLoop}
    return {"clock": asyncio.new_event_loop}
