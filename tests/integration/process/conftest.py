"""A plane for all modules, with none of our objects on it when a module begins."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import add_roomy_nodes

from .running import take_away


@pytest.fixture(scope="session")
def bare_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_plane(tmp_path_factory.mktemp("process"), replicas=0) as cluster:
        add_roomy_nodes(cluster)
        yield cluster


@pytest.fixture(scope="module")
def bare(bare_plane: Cluster) -> Iterator[Cluster]:
    yield bare_plane
    take_away(bare_plane)
