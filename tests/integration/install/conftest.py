"""A control plane for these tests: policies and webhooks would refuse what others do.

No operator runs on it: what is seen here holds while everything of ours is down. All files share
it. That of the webhooks comes last by its name: from then on nobody answers for what is created.
"""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster, running_plane

from .policy_api import PolicyApi, prepare_plane


@pytest.fixture(scope="session")
def own_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A bare plane."""
    with running_plane(tmp_path_factory.mktemp("policed"), replicas=0) as cluster:
        cluster.warm()
        yield cluster


@pytest.fixture(scope="session")
def api(own_plane: Cluster) -> PolicyApi:
    """Everything of `manifests/base` but the operator and its webhooks."""
    return prepare_plane(own_plane)
