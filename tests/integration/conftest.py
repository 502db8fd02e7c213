"""A team with a namespace of its own on the plane with the product, for whoever asks for one."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster

from .roomy_nodes import add_roomy_nodes
from .team import Team, bugs_logged


@pytest.fixture(scope="session")
def roomy(product_plane: Cluster) -> Iterator[Cluster]:
    """The plane, with cards enough that every pod is bound. Whatever was asked: no bug shows."""
    add_roomy_nodes(product_plane)
    yield product_plane
    assert bugs_logged(product_plane) == []


@pytest.fixture
def team(roomy: Cluster, product_plane: Cluster, namespace: str, unique: str) -> Team:
    return Team(product_plane, namespace, unique)
