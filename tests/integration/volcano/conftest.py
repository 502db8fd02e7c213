"""The plane with the product beside the stand-in for Volcano, whose tests stand in this folder."""

from collections.abc import Iterator

import pytest
import yaml

from cardquota_dev.testing import Cluster, fresh_namespace, running_plane
from integration.roomy_nodes import add_roomy_nodes
from integration.team import Team

NAMESPACE = "batch"
"""Not the usual one, so its accounts have to be named."""
CONFIGURATION = "volcano-scheduler-configmap"
ACCOUNTS = tuple(
    f"system:serviceaccount:{NAMESPACE}:volcano-{name}" for name in ("scheduler", "controllers")
)


@pytest.fixture(scope="session")
def beside_volcano(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """With Volcano's own definitions, as where it was first."""
    config = tmp_path_factory.mktemp("beside-volcano") / "config.yaml"
    volcano = {"accounts": list(ACCOUNTS), "configuration": f"{NAMESPACE}/{CONFIGURATION}"}
    settings = {"scheduler": "volcano", "volcano": volcano}
    config.write_text(yaml.safe_dump(settings))
    with running_plane(
        tmp_path_factory.mktemp("volcano-plane"),
        config=config,
        crds="volcano",
        volcano=NAMESPACE,
        volcano_period=0.2,
        volcano_longest_pause=0.2,
    ) as cluster:
        add_roomy_nodes(cluster)
        cluster.warm()
        yield cluster


@pytest.fixture
def team(beside_volcano: Cluster, unique: str) -> Iterator[Team]:
    """A namespace on that plane, and what belongs to it."""
    with fresh_namespace(beside_volcano, unique) as namespace:
        yield Team(beside_volcano, namespace, unique)
