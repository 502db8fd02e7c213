"""One worker takes all tests of a shared plane."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness import shared_planes, workers


def item(nodeid: str, *fixtures: str, **parameters: object) -> Any:
    callspec = SimpleNamespace(params=parameters)
    return SimpleNamespace(nodeid=nodeid, fixturenames=fixtures, callspec=callspec)


@pytest.mark.parametrize(
    ("fixtures", "plane"),
    [
        (("plane", "tmp_path"), "plane"),
        (("unique", "namespace"), "plane"),
        (("namespace", "team", "product_plane"), "product_plane"),
        (("namespace", "extender_plane"), "extender_plane"),
        (("tmp_path",), None),
    ],
)
def test_the_plane_that_a_test_uses(fixtures: tuple[str, ...], plane: str | None) -> None:
    assert shared_planes.by_fixtures(item("a.py::test", *fixtures)) == plane


def test_a_parameter_of_the_name_is_no_plane() -> None:
    assert shared_planes.by_fixtures(item("a.py::test", "namespace", namespace="team")) is None


def test_a_test_that_would_start_a_plane_anew_is_refused() -> None:
    there = item("tests/integration/status/test_a.py::test", "product_plane")
    workers.pytest_collection_modifyitems([there, item("tests/unit/test_a.py::test")])
    elsewhere = item("tests/integration/process/test_a.py::test", "product_plane")
    with pytest.raises(pytest.UsageError, match="uses product_plane"):
        workers.pytest_collection_modifyitems([there, elsewhere])
