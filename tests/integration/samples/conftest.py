"""The namespace of the samples, on the plane with the product and the definitions it needs."""

from collections.abc import Iterator

import pytest

from cardquota_dev.testing import Cluster
from integration.definitions import define_kinds, until_served

from .research import Research


@pytest.fixture(scope="package")
def namespace_of_samples(roomy: Cluster) -> Iterator[Research]:
    define_kinds(roomy)
    until_served(roomy)
    found = Research(roomy)
    found.opens()
    yield found
    found.closes()


@pytest.fixture
def research(product_plane: Cluster, namespace_of_samples: Research) -> Iterator[Research]:
    """The namespace, empty."""
    yield namespace_of_samples
    namespace_of_samples.removes_all()
