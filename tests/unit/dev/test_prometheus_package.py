"""Where Prometheus cannot be had it is said in one line, and nothing half is left in the cache."""

from pathlib import Path

import pytest

from cardquota_dev.build.prometheus import prometheus_folder, provide_prometheus
from cardquota_dev.failure import PlaneError

APT = """#!/bin/sh
# Stands for apt-get: it fails at the word that the test names.
for word; do
    if [ "$word" = "$FAIL" ]; then echo "E: cannot $word" >&2; exit 100; fi
done
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, with an empty cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_without_apt_it_is_said(programs: Path) -> None:
    with pytest.raises(PlaneError, match=r"^there is no apt-get$"):
        provide_prometheus()
    assert list(prometheus_folder().parent.iterdir()) == []


@pytest.mark.parametrize("word", ["update", "download"])
def test_a_failure_is_the_last_line_of_what_apt_says(
    programs: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    (programs / "apt-get").write_text(APT)
    (programs / "apt-get").chmod(0o755)
    monkeypatch.setenv("FAIL", word)
    with pytest.raises(PlaneError, match=rf"^apt-get failed: E: cannot {word}$"):
        provide_prometheus()
    assert list(prometheus_folder().parent.iterdir()) == []


def test_what_is_in_the_cache_is_taken_without_a_network(programs: Path) -> None:
    prometheus_folder().mkdir(parents=True)
    assert provide_prometheus() == prometheus_folder()
