"""The endpoint of most tests of the webhooks."""

from collections.abc import AsyncIterator

import pytest

from .endpoint import Endpoint
from .workload_review import THREE


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """It has seen a queue with a quota of three cards."""
    async with Endpoint(THREE) as endpoint:
        yield endpoint
