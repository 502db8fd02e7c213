"""Fixtures of the extender's tests."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster

from .shared_cards import Shelf, a_shelf


@pytest.fixture
def shelf(extender_plane: Cluster, namespace: str) -> Iterator[Shelf]:
    """Nodes of the test's own, gone when it is done."""
    with a_shelf(extender_plane, namespace) as found:
        yield found
