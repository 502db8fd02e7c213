"""A plane of its own per module, with everything of ours but the operator."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import add_roomy_nodes


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_plane(tmp_path_factory.mktemp("process"), replicas=0) as cluster:
        add_roomy_nodes(cluster)
        yield cluster
