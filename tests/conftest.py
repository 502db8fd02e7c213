"""Fixtures of the control plane, its markers, and the time that a test may take."""

import secrets
from collections.abc import Generator, Iterator

import pytest

from cardquota_dev.plane.discovery import existing_cluster
from cardquota_dev.testing import (
    Cluster,
    eventually,
    fresh_namespace,
    running_plane,
    shared_cluster,
)
from harness import shared_planes

pytest_plugins = ["harness.budget", "harness.newer_kubernetes", "harness.workers"]

LONGEST_TEST = 60.0
"""Seconds a test may take without a marker that says so; fixtures are not counted.

A quiet machine takes three for the longest, and one wait may take so long: what fails here is no
noise of a busy one.
"""

_UNLIMITED = ("slow", "disruptive", "long")


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The one bare plane that all tests share: no CRDs, no product."""
    with shared_cluster(tmp_path_factory.mktemp("plane")) as cluster:
        cluster.warm()
        yield cluster


@pytest.fixture(scope="session")
def product_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The plane with the product that many tests share."""
    if existing_cluster() is not None:
        pytest.skip("the product is started on planes of our own only")
    folder = tmp_path_factory.mktemp("product-plane")
    with running_plane(folder, quick_autoscaler=True) as cluster:
        cluster.warm()
        # A leader settles for some seconds before it decides: no test is charged for that.
        eventually(lambda: decides(cluster), "a leader that decides")
        yield cluster


@pytest.fixture(scope="session")
def extender_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The one plane whose scheduler asks the product; of its two replicas one binds."""
    if existing_cluster() is not None:
        pytest.skip("the product is started on planes of our own only")
    folder = tmp_path_factory.mktemp("extender-plane")
    config = tmp_path_factory.mktemp("extender-config") / "config.yaml"
    config.write_text("extender: {enabled: true}\n")
    with running_plane(folder, replicas=2, extender=True, config=config) as cluster:
        cluster.warm()
        eventually(lambda: decides(cluster), "a leader that decides")
        yield cluster


def decides(cluster: Cluster) -> bool:
    """Whether a replica opens gates."""
    replicas = [p for p in cluster.state.processes if p.name.startswith("cardquota-")]
    http = cluster.admin.rest_client.pool_manager
    pages = (http.request("GET", f"{p.address}/metrics").data.decode() for p in replicas)
    return any("\ncardquota_leader 1.0" in page for page in pages)


@pytest.fixture
def unique() -> str:
    """A prefix for names of cluster-wide objects, different in every test."""
    return f"t{secrets.token_hex(4)}"


@pytest.fixture
def namespace(request: pytest.FixtureRequest, unique: str) -> Iterator[str]:
    """A namespace of the test's own, on the plane that the test uses."""
    asked = (x for x in ("extender_plane", "product_plane") if x in request.fixturenames)
    cluster = request.getfixturevalue(next(asked, "plane"))
    with fresh_namespace(cluster, unique) as name:
        yield name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if shared_planes.by_fixtures(item) is not None:
            item.add_marker(pytest.mark.plane)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # Where every line is traced, times say nothing.
    traced = bool(item.config.getoption("cov_source", default=None))
    allowed = traced or any(item.get_closest_marker(name) for name in _UNLIMITED)
    too_long = call.when == "call" and call.duration > LONGEST_TEST
    if too_long and report.passed and not allowed:
        report.outcome = "failed"
        report.longrepr = f"took {call.duration:.1f} s: mark it slow, or make it quick"
    return report
