"""A team with a namespace of its own on the plane with the product."""

import pytest

from cardquota_dev.testing import Cluster
from integration.admission.team import Team, add_roomy_nodes


@pytest.fixture(scope="session")
def roomy(product_plane: Cluster) -> Cluster:
    """The plane, with cards enough that every pod is bound."""
    add_roomy_nodes(product_plane)
    return product_plane


@pytest.fixture
def team(roomy: Cluster, product_plane: Cluster, namespace: str, unique: str) -> Team:
    return Team(product_plane, namespace, unique)
