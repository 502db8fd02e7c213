"""A plane with everything of ours but the operator; with none of our objects as a module begins.

Modules that `shared_planes` names share one. Each of the others has its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cardquota_dev.testing import Cluster, running_plane
from harness import shared_planes
from integration.roomy_nodes import add_roomy_nodes

from .running import take_away


@contextmanager
def _started(factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_plane(factory.mktemp("process"), replicas=0) as cluster:
        add_roomy_nodes(cluster)
        yield cluster


@pytest.fixture(scope="session")
def bare_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with _started(tmp_path_factory) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def bare(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    if shared_planes.by_name(request.node.nodeid) == "bare_plane":
        cluster: Cluster = request.getfixturevalue("bare_plane")
        yield cluster
        take_away(cluster)
    else:
        with _started(tmp_path_factory) as cluster:
            yield cluster
