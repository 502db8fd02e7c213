"""Debian's Prometheus, where `make test-long` could fetch it."""

from pathlib import Path

import pytest

from cardquota_dev.build.prometheus import prometheus_folder


@pytest.fixture(scope="session")
def prometheus_programs() -> Path:
    """The folder with `prometheus` and `promtool`."""
    folder = prometheus_folder()
    if not folder.is_dir():
        pytest.skip("no Prometheus: python -m cardquota_dev build --prometheus")
    return folder
