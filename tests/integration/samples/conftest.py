"""The namespace of the samples, on the plane with the product and the definitions it needs."""

from collections.abc import Iterator

import pytest

from cardquota_dev.build.definitions import JOB_SET, PYTORCH_JOB, definition_file
from cardquota_dev.testing import Cluster, eventually

from .research import Research


@pytest.fixture(scope="package")
def workload_definitions(product_plane: Cluster) -> None:
    """JobSet and PyTorchJob are there, by their projects' own definitions; they stay."""
    for wanted, kind in ((JOB_SET, "jobsets"), (PYTORCH_JOB, "pytorchjobs")):
        # kubectl's own annotation of an applied file would be too long for it.
        done = product_plane.kubectl("apply", "--server-side", "-f", str(definition_file(wanted)))
        assert done.returncode == 0, done.stderr
        eventually(lambda kind=kind: _served(product_plane, kind), f"{kind} served")


@pytest.fixture(scope="package")
def namespace_of_samples(roomy: Cluster, workload_definitions: None) -> Iterator[Research]:
    found = Research(roomy)
    found.opens()
    yield found
    found.closes()


@pytest.fixture
def research(product_plane: Cluster, namespace_of_samples: Research) -> Iterator[Research]:
    """The namespace, empty."""
    yield namespace_of_samples
    namespace_of_samples.removes_all()


def _served(cluster: Cluster, kind: str) -> bool:
    return cluster.kubectl("get", kind, "-A").returncode == 0
