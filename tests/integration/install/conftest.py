"""A control plane of its own per module: policies and webhooks would refuse what other tests do.

No operator runs on it: what is seen here holds while everything of ours is down.
"""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster, running_plane

from .stage import Stage, raise_curtain


@pytest.fixture(scope="module")
def own_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A bare plane, ended after the module."""
    with running_plane(tmp_path_factory.mktemp("policed"), replicas=0) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def stage(own_plane: Cluster) -> Stage:
    """Everything of `manifests/base` but the operator and its webhooks."""
    return raise_curtain(own_plane)
