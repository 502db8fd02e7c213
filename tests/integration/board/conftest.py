"""Debian's Prometheus, where `make test-long` could fetch it, and a plane that it scrapes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota_dev.build.prometheus import prometheus_folder

from .scraped_plane import ScrapedPlane, scraped_plane


@pytest.fixture(scope="session")
def prometheus_programs() -> Path:
    """The folder with `prometheus` and `promtool`."""
    folder = prometheus_folder()
    if not folder.is_dir():
        pytest.skip("no Prometheus: python -m cardquota_dev build --prometheus")
    return folder


@pytest.fixture(scope="module")
def scraped(
    prometheus_programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ScrapedPlane]:
    with scraped_plane(prometheus_programs, tmp_path_factory.mktemp("board")) as plane:
        yield plane
