"""`install.yaml`: the base in one file, which an API server takes the first time."""

from pathlib import Path

import pytest

from cardquota_dev.chart.install_yaml import install_yaml
from cardquota_dev.testing import Cluster, running_plane
from integration.chart.helm import by_kustomize, by_name

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]


def test_it_is_the_base(tmp_path: Path) -> None:
    image = "registry.example:5000/team/cardquota:1.2.3"
    images = [{"name": "cardquota", "newName": image.rpartition(":")[0], "newTag": "1.2.3"}]
    assert by_name(install_yaml(image)) == by_kustomize(tmp_path, images=images)


def test_it_is_applied_at_once(tmp_path: Path) -> None:
    with running_plane(tmp_path / "plane", replicas=0) as cluster:
        accepted(cluster, "apply", "-f", "-")
        accepted(cluster, "apply", "--server-side", "--force-conflicts", "-f", "-")


def accepted(cluster: Cluster, *command: str) -> None:
    done = cluster.kubectl(*command, input=install_yaml())
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
