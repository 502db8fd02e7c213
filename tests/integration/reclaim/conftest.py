"""A plane that takes cards back, which all tests here use that break nothing."""

from collections.abc import Iterator

import pytest
import yaml

from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from conftest import decides
from integration.team import Team, bugs_logged

from .lent import CONFIG, Lent


@pytest.fixture(scope="package")
def reclaiming_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("reclaiming-plane")
    config = tmp_path_factory.mktemp("reclaiming-config") / "config.yaml"
    config.write_text(yaml.safe_dump(dict(CONFIG)))
    with running_plane(folder, config=config) as cluster:
        cluster.warm()
        eventually(lambda: decides(cluster), "a leader that decides")
        yield cluster
        assert bugs_logged(cluster) == []


@pytest.fixture
def lent(reclaiming_plane: Cluster, namespace_there: str, unique: str) -> Iterator[Lent]:
    found = Lent(Team(reclaiming_plane, namespace_there, unique), f"NVIDIA-{unique.upper()}")
    found.prepare()
    yield found
    found.remove()


@pytest.fixture
def namespace_there(reclaiming_plane: Cluster, unique: str) -> Iterator[str]:
    with fresh_namespace(reclaiming_plane, unique) as name:
        yield name
